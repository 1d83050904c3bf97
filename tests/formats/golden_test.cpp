// Every format against the recorded blocks: bytes to values, values to bytes, quality, ranges.
#include <gtest/gtest.h>

#include "support/format_properties.h"

namespace plait {
namespace {

using testing::GoldenFormat;

class GoldenFormats : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenFormats, DecodeToTheRecordedValuesBitForBit) {
  testing::expect_recorded_values(testing::load_golden_format(GetParam()));
}

TEST_P(GoldenFormats, GroupsFitThePlanesOfThePackedLayouts) {
  const GoldenFormat golden = testing::load_golden_format(GetParam());
  ASSERT_NE(golden.format, nullptr);
  if (golden.format->info.is_float) GTEST_SKIP() << "float formats have no groups";
  testing::expect_groups_in_range(golden);
}

TEST_P(GoldenFormats, EncodersMeetTheRecordedOnes) {
  const GoldenFormat golden = testing::load_golden_format(GetParam());
  ASSERT_NE(golden.format, nullptr);
  if (golden.format->encode == nullptr || golden.encoder == "none" || golden.encoder.empty()) {
    GTEST_SKIP() << "no encoder is asked for";
  }
  if (golden.encoder == "exact") testing::expect_recorded_bytes(golden);
  if (golden.encoder == "quality") testing::expect_recorded_quality(golden);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFormats, ::testing::ValuesIn(testing::golden_format_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace plait
