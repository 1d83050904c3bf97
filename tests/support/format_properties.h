// What every weight format promises, as functions over its table entry and the recorded blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/all.h"

namespace plait::testing {

// The recorded blocks of one format: first random bytes, then blocks that another program's encoder made from `input`.
struct GoldenFormat {
  const Format* format = nullptr;
  std::string encoder;  // "exact", "quality", "none", or empty.
  int random_blocks = 0;
  int encoded_blocks = 0;
  std::vector<std::byte> bytes;   // All blocks.
  std::vector<float> values;      // Their values.
  std::vector<float> input;       // What the encoded blocks were made from.
  std::vector<double> quant_mse;  // Mean squared error of each encoded block, where recorded.
};

// Upper-case names as formats.json has them.
std::vector<std::string> golden_format_names();
GoldenFormat load_golden_format(const std::string& name);

// Each is a set of expectations.
void expect_recorded_values(const GoldenFormat& golden);   // Bit for bit; +0 = -0, NaN = NaN.
void expect_recorded_bytes(const GoldenFormat& golden);    // The encoder's bytes are the recorded ones.
void expect_recorded_quality(const GoldenFormat& golden);  // The encoder is as good as the recorded one.
void expect_groups_in_range(const GoldenFormat& golden);   // Codes fit the planes the packed layouts give them.
void expect_zeros_stay_zeros(const Format& format);

}  // namespace plait::testing
