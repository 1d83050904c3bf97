// Same bits, always: the golden models under every schedule.
#include <tuple>

#include "support/model_properties.h"

namespace plait::test {
namespace {

class SameBits : public testing::TestWithParam<const char*> {};

TEST_P(SameBits, WhateverTheChunksTheCompanyTheThreadsAndTheInstructionSet) {
  expect_same_bits((golden_dir() / "models" / GetParam()).string(), 200);
}

INSTANTIATE_TEST_SUITE_P(GoldenModels, SameBits,
                         testing::Values("llama/model.gguf", "llama-rope3/model.gguf", "qwen2-yarn/model.gguf",
                                         "qwen3/model.gguf", "qwen3-moe/model.gguf", "mistral/model.gguf",
                                         "llama-quantized/Q4_K.gguf", "llama-quantized/Q6_K.gguf",
                                         "llama-quantized/Q4_1.gguf", "llama-quantized/Q3_K.gguf"));

// Activations of other bits are another arithmetic with the same promise: a transformer and a hybrid.
class SameBitsOfFinerActivations : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(SameBitsOfFinerActivations, WhateverTheChunksTheCompanyTheThreadsAndTheInstructionSet) {
  const auto& [file, activations] = GetParam();
  expect_same_bits((golden_dir() / file).string(), 200, activations);
}

INSTANTIATE_TEST_SUITE_P(GoldenModels, SameBitsOfFinerActivations,
                         testing::Combine(testing::Values<std::string>("models/llama-quantized/Q4_K.gguf",
                                                                       "real/tiny-hybrid/model-q8_0.gguf"),
                                          testing::Values(16, 32)));

}  // namespace
}  // namespace plait::test
