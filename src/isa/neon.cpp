// Arm, 64 bits, with NEON and its dot product (ARMv8.2). Sixteen lanes are four registers.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "isa/before_region.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif

#include "isa/neon_vocabulary.h"
#include "kernels/table.h"

namespace plait {

static_assert(Vocabulary<Neon>);

extern const Kernels kNeon;
constinit const Kernels kNeon = make_kernels<Neon>(QuantizedFormats{}, FloatFormats{});

}  // namespace plait

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
