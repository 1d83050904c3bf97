// Plain C++: always there, and the reference for the others.
#include "isa/scalar_vocabulary.h"

#include "kernels/kernels.h"
#include "kernels/table.h"

namespace plait {

static_assert(Vocabulary<Scalar>);

extern const Kernels kScalar;
constinit const Kernels kScalar = make_kernels<Scalar>(QuantizedFormats{}, FloatFormats{});

}  // namespace plait
