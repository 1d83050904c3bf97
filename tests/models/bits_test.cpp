// Same bits, always: the golden models under every schedule.
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

}  // namespace
}  // namespace plait::test
