// The sampling that a model's file recommends: general.sampling.*.
#include "engine/recommended.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "decode/sample.h"

namespace plait {
namespace {

std::optional<double> number_of(const MetadataValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

bool is_int(double value) { return value == std::floor(value) && std::abs(value) <= 1e9; }

struct Key {
  std::string_view name;
  double SampleOptions::*number;  // Either this
  int SampleOptions::*integer;    // or that.
};

constexpr Key kKeys[] = {
    {"general.sampling.temp", &SampleOptions::temp, nullptr},
    {"general.sampling.top_k", nullptr, &SampleOptions::top_k},
    {"general.sampling.top_p", &SampleOptions::top_p, nullptr},
    {"general.sampling.min_p", &SampleOptions::min_p, nullptr},
    {"general.sampling.penalty_repeat", &SampleOptions::repeat_penalty, nullptr},
    {"general.sampling.penalty_last_n", nullptr, &SampleOptions::repeat_last_n},
};

}  // namespace

SampleOptions recommended_sampling(const ModelFile& file, std::vector<std::string>& notes) {
  SampleOptions options;
  for (const Key& key : kKeys) {
    const MetadataValue* value = file.find_metadata(key.name);
    if (value == nullptr) continue;
    const std::optional<double> number = number_of(*value);
    SampleOptions changed = options;
    bool fits = number && (key.integer == nullptr || is_int(*number));
    if (fits && key.integer != nullptr) changed.*key.integer = static_cast<int>(*number);
    if (fits && key.number != nullptr) changed.*key.number = *number;
    fits = fits && check_sampling(changed, 0).has_value();
    if (fits) {
      options = changed;
    } else {
      notes.push_back(fmt::format("{}: {} is no value that can be used; it is left out", file.path(), key.name));
    }
  }
  return options;
}

}  // namespace plait
