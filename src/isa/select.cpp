// The instruction sets, best first, and what this machine has of them.
#include "isa/select.h"

#include <fmt/format.h>

#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace plait {

extern const Kernels kScalar;

#if defined(__x86_64__)

extern const Kernels kAvx512;
extern const Kernels kAvxVnni;
extern const Kernels kAvx2;

namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

constexpr bool has(unsigned value, unsigned bits) { return (value & bits) == bits; }
constexpr unsigned bit(int n) { return 1u << n; }

// Whether the operating system saves those parts of the registers (bits of XCR0).
bool saves(unsigned parts) {
  if (!has(cpuid(1, 0).ecx, bit(27))) return false;  // osxsave
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return has(low, parts);
}

bool has_avx2() {
  constexpr unsigned kFma = bit(12), kAvx = bit(28), kF16c = bit(29), kAvx2Bit = bit(5);
  return has(cpuid(1, 0).ecx, kFma | kAvx | kF16c) && has(cpuid(7, 0).ebx, kAvx2Bit) && saves(0x6);
}

bool has_avxvnni() { return has_avx2() && cpuid(7, 0).eax >= 1 && has(cpuid(7, 1).eax, bit(4)); }

bool has_avx512() {
  constexpr unsigned kF = bit(16), kDq = bit(17), kBw = bit(30), kVl = bit(31), kVnni = bit(11);
  const Registers r = cpuid(7, 0);
  return has_avx2() && has(r.ebx, kF | kDq | kBw | kVl) && has(r.ecx, kVnni) && saves(0xe6);
}

bool always() { return true; }

constexpr Isa kIsas[] = {
    {"avx512", &kAvx512, has_avx512},
    {"avxvnni", &kAvxVnni, has_avxvnni},
    {"avx2", &kAvx2, has_avx2},
    {"scalar", &kScalar, always},
};

}  // namespace

#elif defined(__aarch64__)

extern const Kernels kNeon;

namespace {

bool has_neon() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }

bool always() { return true; }

constexpr Isa kIsas[] = {
    {"neon", &kNeon, has_neon},
    {"scalar", &kScalar, always},
};

}  // namespace

#else

namespace {

bool always() { return true; }

constexpr Isa kIsas[] = {{"scalar", &kScalar, always}};

}  // namespace

#endif

std::span<const Isa> all_isas() { return kIsas; }

Result<const Kernels*> kernels_for(std::string_view name) {
  std::string present;
  for (const Isa& isa : kIsas) {
    if (!isa.supported()) continue;
    if (name.empty() || name == isa.name) return isa.kernels;
    present += fmt::format("{}{}", present.empty() ? "" : ", ", isa.name);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("no instruction set \"{}\" on this machine; it has {}", name, present));
}

}  // namespace plait
