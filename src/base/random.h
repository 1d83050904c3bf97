// Random numbers as a function of (seed, position): no state, so nobody's draw depends on another's.
#pragma once

#include <cstdint>

namespace plait {

// SplitMix64's finalizer over seed and position (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014).
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  return mix(mix(seed + 0x9e3779b97f4a7c15ull) + (position + 1) * 0x9e3779b97f4a7c15ull);
}

// Uniform in [0, 1), a multiple of 2^-53.
inline double random_unit(std::uint64_t seed, std::uint64_t position) {
  return static_cast<double>(random_bits(seed, position) >> 11) * 0x1p-53;
}

}  // namespace plait
