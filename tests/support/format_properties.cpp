// What every weight format promises. The bounds are those of the golden data's notes.
#include "support/format_properties.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace plait::testing {
namespace {

const std::string kFolder = std::string(PLAIT_GOLDEN_DIR) + "/formats/";

std::vector<char> read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
std::vector<T> read_array(const std::string& path) {
  const std::vector<char> raw = read_all(path);
  std::vector<T> values(raw.size() / sizeof(T));
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
  return values;
}

bool same_value(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b;  // Everything else has one bit pattern for each value, zero apart.
}

std::string lower(std::string name) {
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

// The smallest and largest code - zero that the packed layouts have room for.
struct Range {
  int low, high;
};

Range code_range(std::string_view name) {
  struct Entry {
    std::string_view name;
    Range range;
  };
  static constexpr Entry kRanges[] = {
      {"q4_0", {-8, 7}},    {"q4_1", {0, 15}},       {"q5_0", {-16, 15}},     {"q5_1", {0, 31}},
      {"q2_k", {0, 3}},     {"q3_k", {-4, 3}},       {"q4_k", {0, 15}},       {"q5_k", {0, 31}},
      {"q6_k", {-32, 31}},  {"iq4_nl", {-127, 113}}, {"q1_0", {-1, 1}},       {"q2_0", {-1, 2}},
      {"mxfp4", {-12, 12}}, {"nvfp4", {-12, 12}},    {"iq4_xs", {-127, 113}}, {"tq1_0", {-1, 1}},
      {"tq2_0", {-1, 2}},   {"iq1_s", {-9, 9}},      {"iq1_m", {-9, 9}},      {"iq3_xxs", {-62, 62}},
      {"iq3_s", {-15, 15}}, {"iq2_s", {-43, 43}},    {"iq2_xs", {-43, 43}},   {"iq2_xxs", {-43, 43}},
  };
  for (const Entry& entry : kRanges) {
    if (entry.name == name) return entry.range;
  }
  return {-128, 127};
}

double mean_squared_error(const float* a, const float* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum / count;
}

}  // namespace

std::vector<std::string> golden_format_names() {
  const auto document = nlohmann::json::parse(read_all(kFolder + "formats.json"));
  std::vector<std::string> names;
  for (const auto& item : document.at("types").items()) names.push_back(item.key());
  return names;
}

GoldenFormat load_golden_format(const std::string& name) {
  const auto entry = nlohmann::json::parse(read_all(kFolder + "formats.json")).at("types").at(name);
  GoldenFormat golden;
  golden.format = find_format(lower(name));
  golden.encoder = entry.value("encoder", "");
  golden.random_blocks = entry.at("n_random");
  golden.encoded_blocks = entry.at("n_quant");
  if (entry.contains("quant_mse")) golden.quant_mse = entry.at("quant_mse").get<std::vector<double>>();
  golden.bytes = read_array<std::byte>(kFolder + lower(name) + ".bytes");
  golden.values = read_array<float>(kFolder + lower(name) + ".f32");
  if (golden.encoded_blocks > 0) golden.input = read_array<float>(kFolder + lower(name) + ".input.f32");
  if (golden.format == nullptr) {
    ADD_FAILURE() << name << " is not in the list of formats";
    return golden;
  }
  const FormatInfo& info = golden.format->info;
  EXPECT_EQ(info.gguf_type, entry.at("id").get<int>());
  EXPECT_EQ(info.block_values, entry.at("block").get<int>());
  EXPECT_EQ(info.block_bytes, entry.at("bytes_per_block").get<int>());
  return golden;
}

void expect_recorded_values(const GoldenFormat& golden) {
  ASSERT_NE(golden.format, nullptr);
  std::vector<float> decoded(golden.values.size());
  golden.format->decode(golden.bytes.data(), static_cast<std::int64_t>(decoded.size()), decoded.data());
  int wrong = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    if (same_value(decoded[i], golden.values[i])) continue;
    if (++wrong > 3) continue;
    ADD_FAILURE() << golden.format->info.name << " value " << i << ": " << decoded[i] << ", recorded "
                  << golden.values[i];
  }
  EXPECT_EQ(wrong, 0) << golden.format->info.name << ", of " << decoded.size();
}

void expect_recorded_bytes(const GoldenFormat& golden) {
  ASSERT_NE(golden.format, nullptr);
  ASSERT_NE(golden.format->encode, nullptr) << golden.format->info.name;
  const std::size_t block_bytes = static_cast<std::size_t>(golden.format->info.block_bytes);
  std::vector<std::byte> encoded(static_cast<std::size_t>(golden.encoded_blocks) * block_bytes);
  golden.format->encode(golden.input.data(), static_cast<std::int64_t>(golden.input.size()), encoded.data());
  const std::byte* recorded = golden.bytes.data() + static_cast<std::size_t>(golden.random_blocks) * block_bytes;
  for (int block = 0; block < golden.encoded_blocks; ++block) {
    const std::size_t at = static_cast<std::size_t>(block) * block_bytes;
    EXPECT_EQ(std::memcmp(&encoded[at], recorded + at, block_bytes), 0)
        << golden.format->info.name << " block " << block;
  }
}

void expect_recorded_quality(const GoldenFormat& golden) {
  ASSERT_NE(golden.format, nullptr);
  ASSERT_NE(golden.format->encode, nullptr) << golden.format->info.name;
  ASSERT_EQ(golden.quant_mse.size(), static_cast<std::size_t>(golden.encoded_blocks));
  const FormatInfo& info = golden.format->info;
  std::vector<std::byte> encoded(static_cast<std::size_t>(golden.encoded_blocks) *
                                 static_cast<std::size_t>(info.block_bytes));
  const auto count = static_cast<std::int64_t>(golden.input.size());
  golden.format->encode(golden.input.data(), count, encoded.data());
  std::vector<float> decoded(golden.input.size());
  golden.format->decode(encoded.data(), count, decoded.data());
  double ours = 0, theirs = 0;
  for (int block = 0; block < golden.encoded_blocks; ++block) {
    const std::size_t at = static_cast<std::size_t>(block) * static_cast<std::size_t>(info.block_values);
    const double error = mean_squared_error(&decoded[at], &golden.input[at], info.block_values);
    const double recorded = golden.quant_mse[static_cast<std::size_t>(block)];
    EXPECT_LE(error, 1.05 * recorded + 1e-12) << info.name << " block " << block << ", ratio " << error / recorded;
    ours += error;
    theirs += recorded;
  }
  EXPECT_LE(ours, 1.01 * theirs) << info.name;
  for (std::size_t i = 0; i < decoded.size(); i += static_cast<std::size_t>(info.block_values)) {
    bool all_zero = true;
    for (int k = 0; k < info.block_values; ++k) all_zero &= golden.input[i + static_cast<std::size_t>(k)] == 0;
    for (int k = 0; all_zero && k < info.block_values; ++k) ASSERT_EQ(decoded[i + static_cast<std::size_t>(k)], 0);
  }
}

void expect_groups_in_range(const GoldenFormat& golden) {
  ASSERT_NE(golden.format, nullptr);
  const FormatInfo& info = golden.format->info;
  const Range range = code_range(info.name);
  for (std::size_t at = 0; at < golden.bytes.size(); at += static_cast<std::size_t>(info.block_bytes)) {
    for (int g = 0; g < info.block_values / 32; ++g) {
      Group group;
      golden.format->group(&golden.bytes[at], g, group);
      for (const std::int8_t value : group.values) {
        ASSERT_GE(value, range.low) << info.name;
        ASSERT_LE(value, range.high) << info.name;
      }
      for (int h = 0; h < info.scales_per_group && !info.has_mins; ++h) ASSERT_EQ(group.mins[h], 0) << info.name;
    }
  }
}

void expect_zeros_stay_zeros(const Format& format) {
  const FormatInfo& info = format.info;
  const std::vector<float> zeros(static_cast<std::size_t>(info.block_values) * 3);
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.block_bytes) * 3, std::byte{0xa5});
  format.encode(zeros.data(), static_cast<std::int64_t>(zeros.size()), bytes.data());
  std::vector<float> decoded(zeros.size(), 1.0f);
  format.decode(bytes.data(), static_cast<std::int64_t>(decoded.size()), decoded.data());
  for (const float value : decoded) ASSERT_EQ(value, 0) << info.name;
}

}  // namespace plait::testing
