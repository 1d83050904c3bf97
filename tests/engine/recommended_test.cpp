// Sampling that a model's file recommends.
#include "engine/recommended.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/gguf_bytes.h"

namespace plait {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SampleOptions options_of(const GgufBytes& bytes, std::vector<std::string>& notes) {
  const auto file = open_model_bytes("small.gguf", bytes.build());
  EXPECT_TRUE(file) << file.error().message;
  return recommended_sampling(**file, notes);
}

GgufBytes some_model() {
  GgufBytes bytes;
  bytes.string("general.architecture", "llama");
  return bytes;
}

TEST(RecommendedSampling, IsTheDefaultWhereTheFileSaysNothing) {
  std::vector<std::string> notes;
  EXPECT_EQ(options_of(some_model(), notes).temp, SampleOptions().temp);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(RecommendedSampling, IsWhatTheFileSays) {
  std::vector<std::string> notes;
  GgufBytes bytes = some_model();
  bytes.number("general.sampling.temp", kGgufF32, 0.25f);
  bytes.number("general.sampling.top_k", kGgufI32, std::int32_t{20});
  bytes.number("general.sampling.top_p", kGgufF64, 0.5);
  bytes.number("general.sampling.min_p", kGgufF32, 0.0f);
  bytes.number("general.sampling.penalty_repeat", kGgufF32, 1.5f);
  bytes.number("general.sampling.penalty_last_n", kGgufU32, std::uint32_t{128});
  const SampleOptions options = options_of(bytes, notes);
  EXPECT_EQ(options.temp, 0.25);
  EXPECT_EQ(options.top_k, 20);
  EXPECT_EQ(options.top_p, 0.5);
  EXPECT_EQ(options.min_p, 0);
  EXPECT_EQ(options.repeat_penalty, 1.5);
  EXPECT_EQ(options.repeat_last_n, 128);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(RecommendedSampling, LeavesOutWhatMakesNoSenseAndSaysSo) {
  std::vector<std::string> notes;
  GgufBytes bytes = some_model();
  bytes.number("general.sampling.temp", kGgufF32, std::numeric_limits<float>::quiet_NaN());
  bytes.number("general.sampling.top_k", kGgufF32, 2.5f);
  bytes.string("general.sampling.top_p", "much");
  const SampleOptions options = options_of(bytes, notes);
  EXPECT_EQ(options.temp, SampleOptions().temp);
  EXPECT_EQ(options.top_k, SampleOptions().top_k);
  EXPECT_EQ(options.top_p, SampleOptions().top_p);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("general.sampling.temp"), HasSubstr("general.sampling.top_k"),
                                 HasSubstr("general.sampling.top_p")));
}

}  // namespace
}  // namespace plait
