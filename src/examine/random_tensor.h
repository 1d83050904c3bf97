// RandomTensor: numbers as a function of (seed, tensor name, place), the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plait {

struct RandomTensor {
  std::uint64_t seed = 0;  // Of this tensor.
  float mean = 0;
  float deviation = 1;

  // Seeds differ between names, so tensors do not depend on each other's order or size.
  static std::uint64_t seed_of(std::uint64_t model_seed, std::string_view name);

  // Values first, first + 1, ...: about normal, never further than 3.5 deviations from the mean.
  void fill(std::uint64_t first, std::span<float> out) const;
};

}  // namespace plait
