// A sum of four uniform numbers stands in for the normal distribution: integers and one multiplication.
#include "examine/random_tensor.h"

#include "base/random.h"

namespace plait {

std::uint64_t RandomTensor::seed_of(std::uint64_t model_seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a.
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return random_bits(model_seed, hash);
}

void RandomTensor::fill(std::uint64_t first, std::span<float> out) const {
  constexpr int kMean = 4 * 65535 / 2;
  constexpr float kDeviation = 37837.227f;  // Of a sum of four uniform 16-bit numbers: sqrt((65536^2 - 1) / 3).
  const float factor = deviation / kDeviation;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t bits = random_bits(seed, first + i);
    const int sum = static_cast<int>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    out[i] = static_cast<float>(sum - kMean) * factor + mean;
  }
}

}  // namespace plait
