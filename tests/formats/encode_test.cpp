// Encoders on awkward input, and a checksum that pins their bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "formats/all.h"
#include "support/format_properties.h"

namespace plait {
namespace {

// Sums of four uniform numbers, about normal with variance 1/3.
std::vector<float> bell_values(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  std::uint32_t state = seed;
  for (float& value : values) {
    value = 0;
    for (int k = 0; k < 4; ++k) {
      state = state * 1664525u + 1013904223u;
      value += static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
  }
  return values;
}

std::vector<float> round_trip(const Format& format, const std::vector<float>& values) {
  const std::size_t blocks = values.size() / static_cast<std::size_t>(format.info.block_values);
  std::vector<std::byte> bytes(blocks * static_cast<std::size_t>(format.info.block_bytes));
  format.encode(values.data(), static_cast<std::int64_t>(values.size()), bytes.data());
  std::vector<float> decoded(values.size());
  format.decode(bytes.data(), static_cast<std::int64_t>(values.size()), decoded.data());
  return decoded;
}

double relative_error(const std::vector<float>& found, const std::vector<float>& wanted) {
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    difference += (static_cast<double>(found[i]) - wanted[i]) * (static_cast<double>(found[i]) - wanted[i]);
    total += static_cast<double>(wanted[i]) * wanted[i];
  }
  return difference / total;
}

TEST(Encoders, AreThereForTheFormatsThatModelsAreMadeIn) {
  for (const std::string_view name : {"f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k",
                                      "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs", "mxfp4", "nvfp4", "tq1_0", "tq2_0"}) {
    ASSERT_NE(find_format(name), nullptr) << name;
    EXPECT_NE(find_format(name)->encode, nullptr) << name;
  }
}

TEST(Encoders, ZerosStayZeros) {
  for (const Format& format : all_formats()) {
    if (format.encode != nullptr) testing::expect_zeros_stay_zeros(format);
  }
}

// The error on about normal values, as a share of their squares, for any scale that f16 can hold.
TEST(Encoders, AreAsGoodAsTheirBitsAllow) {
  struct Bound {
    std::string_view name;
    double error;
  };
  static constexpr Bound kBounds[] = {
      {"q8_0", 5e-5},   {"q6_k", 7e-4},  {"q5_k", 3e-3},     {"q5_0", 3e-3},      {"q5_1", 3e-3},   {"q4_k", 7e-3},
      {"q4_0", 1.2e-2}, {"q4_1", 1e-2},  {"iq4_nl", 8e-3},   {"iq4_xs", 8e-3},    {"q3_k", 3e-2},   {"q2_k", 8e-2},
      {"mxfp4", 3e-2},  {"nvfp4", 2e-2}, {"int8_row", 2e-4}, {"int4_32", 1.2e-2}, {"fp4_16", 2e-2}, {"q2_g128", 0.3}};
  for (const Bound& bound : kBounds) {
    for (const float scale : {1.0f, 0x1p-5f, 100.0f}) {
      std::vector<float> values = bell_values(4096, 7);
      for (float& value : values) value *= scale;
      EXPECT_LE(relative_error(round_trip(*find_format(bound.name), values), values), bound.error)
          << bound.name << " at " << scale;
    }
  }
}

// Denormals, values whose scale is no f16, and jumps by many powers of two: finite in, finite out.
TEST(Encoders, GiveFiniteValuesForEveryInputThatTheirScaleCanHold) {
  for (const Format& format : all_formats()) {
    if (format.encode == nullptr) continue;
    for (const float scale : {1e-45f, 1e-38f, 1e-30f, 1e-8f, 1e-4f, 1e3f, 3e4f}) {
      std::vector<float> values = bell_values(512, 3);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] *= i % 7 == 0 ? scale : scale * 1e-3f;
      for (const float value : round_trip(format, values)) {
        ASSERT_TRUE(std::isfinite(value)) << format.info.name << " at " << scale;
        ASSERT_LE(std::fabs(value), 3 * scale) << format.info.name;
      }
    }
  }
}

TEST(Encoders, SearchesDoNotFailOnValuesBeyondAllScales) {
  for (const std::string_view name : {"q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs"}) {
    std::vector<float> values = bell_values(512, 5);
    for (float& value : values) value *= 1.5e38f;
    for (const float value : round_trip(*find_format(name), values)) ASSERT_TRUE(std::isfinite(value)) << name;
  }
}

// Encoding what was decoded gives the same values for formats whose scale is the largest magnitude.
TEST(Encoders, Q8KeepsWhatItHasEncoded) {
  const Format& format = *find_format("q8_0");
  const std::vector<float> once = round_trip(format, bell_values(4096, 11));
  EXPECT_LE(relative_error(round_trip(format, once), once), 1e-6);
}

// All compilers and machines write the same bytes: made models rest on it.
TEST(Encoders, WriteTheSameBytesEverywhere) {
  struct Entry {
    std::string_view name;
    std::uint64_t checksum;
  };
  static constexpr Entry kChecksums[] = {
      {"f32", 0xb257ba7288d53b67u},      {"f16", 0x3e02a27790f67cb7u},     {"bf16", 0xbb4f278722b4574au},
      {"q4_0", 0x3e1b7b6ff4871956u},     {"q4_1", 0xd8ed4e748f299d67u},    {"q5_0", 0x2788fc6a648b8152u},
      {"q5_1", 0x6f3c0198c642ddc6u},     {"q8_0", 0xcd355821472ba2aau},    {"q2_k", 0x7f6d5757f5e385e3u},
      {"q3_k", 0x2a05f4d4c3fdd9a9u},     {"q4_k", 0x1fada2d7519c8b5bu},    {"q5_k", 0x007b5969263ade25u},
      {"q6_k", 0x24bc04a1fa18d2d4u},     {"iq4_nl", 0x792eeab881525bc9u},  {"iq4_xs", 0xd4cfe0064053735du},
      {"tq1_0", 0xfaa001943f750273u},    {"tq2_0", 0x79d91b0e39e36cfcu},   {"mxfp4", 0x6a02d15effaa3012u},
      {"nvfp4", 0x173538003ccd3a7fu},    {"q1_0", 0xd23c0e2ea1a7e510u},    {"q2_0", 0x96543e185ed29ce2u},
      {"int8_row", 0xe0de5bcebc9b5e91u}, {"int4_32", 0xa0048cbab92bde77u}, {"fp4_16", 0xa2b8c0964a0ef645u},
      {"q2_g128", 0x2c6193d9348130cfu},
  };
  const std::vector<float> values = bell_values(16384, 1);
  for (const Entry& entry : kChecksums) {
    const Format& format = *find_format(entry.name);
    const std::size_t blocks = values.size() / static_cast<std::size_t>(format.info.block_values);
    std::vector<std::byte> bytes(blocks * static_cast<std::size_t>(format.info.block_bytes));
    format.encode(values.data(), static_cast<std::int64_t>(values.size()), bytes.data());
    std::uint64_t checksum = 0xcbf29ce484222325u;  // FNV-1a.
    for (const std::byte byte : bytes) checksum = (checksum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    EXPECT_EQ(checksum, entry.checksum) << entry.name;
  }
}

}  // namespace
}  // namespace plait
