// x86-64 with AVX2, FMA and F16C. Sixteen lanes are two registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include "isa/before_region.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

#include "isa/avx2_vocabulary.h"
#include "kernels/table.h"

namespace plait {

struct Avx2 : Avx2Vocabulary {
  static constexpr std::string_view kName = "avx2";
};

static_assert(Vocabulary<Avx2>);

extern const Kernels kAvx2;
constinit const Kernels kAvx2 = make_kernels<Avx2>(QuantizedFormats{}, FloatFormats{});

}  // namespace plait

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
