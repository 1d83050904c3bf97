// Builder: metadata, and the list of what an architecture asks for. Loading is in builder_load.cpp.
#include "models/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/text.h"

namespace plait {
namespace {

constexpr int kLargestInteger = 1 << 24;

std::string extents_of(const TensorPlan& plan) {
  if (plan.experts > 0)
    return fmt::format("[{}, {}, {}]", plan.cols, plan.file_rows > 0 ? plan.file_rows : plan.rows, plan.experts);
  return plan.is_matrix() || plan.kind == TensorKind::kTaps ? fmt::format("[{}, {}]", plan.cols, plan.rows)
                                                            : fmt::format("[{}]", plan.cols);
}

}  // namespace

Builder::Builder(const ModelFile& file, std::string architecture, const BuildOptions& options)
    : file_(file), architecture_(std::move(architecture)), options_(options) {
  model_.spec_.architecture = architecture_;
  model_.spec_.trained_context = positive("context_length");
  if (const MetadataValue* name = file_.find_metadata("general.name")) {
    if (const auto* text = std::get_if<std::string_view>(name)) model_.spec_.name = printable(*text);
  }
}

void Builder::error(ErrorCode code, const std::string& message) {
  if (!error_) error_ = Error{code, fmt::format("{}: {}", file_.path(), message)};
}

void Builder::note(const std::string& sentence) { notes_.push_back(fmt::format("{}: {}", file_.path(), sentence)); }

void Builder::require(bool condition, const std::string& message) {
  if (!condition) error(ErrorCode::kCorrupt, message);
}

std::string Builder::full_key(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }

const MetadataValue* Builder::find(std::string_view key) const { return file_.find_metadata(full_key(key)); }

bool Builder::has_key(std::string_view key) const { return find(key) != nullptr; }

int Builder::integer(std::string_view key, std::optional<int> fallback) {
  const MetadataValue* value = find(key);
  if (value == nullptr) {
    if (!fallback) error(ErrorCode::kCorrupt, fmt::format("key {} is missing", full_key(key)));
    return fallback.value_or(1);
  }
  std::optional<std::int64_t> found;
  if (const auto* single = std::get_if<std::int64_t>(value)) found = *single;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) {
    // One value for each layer; architectures whose layers differ read them one by one.
    if (!list->empty() && std::all_of(list->begin(), list->end(), [&](std::int64_t x) { return x == list->front(); })) {
      found = list->front();
    }
  }
  if (!found || *found < 0 || *found > kLargestInteger) {
    error(ErrorCode::kCorrupt, found
                                   ? fmt::format("key {} is {}, wanted 0 to {}", full_key(key), *found, kLargestInteger)
                                   : fmt::format("key {} is not one whole number for all layers", full_key(key)));
    return fallback.value_or(1);
  }
  return static_cast<int>(*found);
}

std::vector<int> Builder::integers(std::string_view key, int layers) {
  const MetadataValue* value = find(key);
  const auto* list = value != nullptr ? std::get_if<std::vector<std::int64_t>>(value) : nullptr;
  if (list == nullptr) return std::vector<int>(static_cast<std::size_t>(layers), integer(key));
  std::vector<int> out;
  for (const std::int64_t x : *list) {
    require(x >= 0 && x <= kLargestInteger,
            fmt::format("key {} has an entry {}, wanted 0 to {}", full_key(key), x, kLargestInteger));
    out.push_back(x >= 0 && x <= kLargestInteger ? static_cast<int>(x) : 0);
  }
  require(static_cast<int>(list->size()) >= layers,
          fmt::format("key {} has {} entries, wanted one for each of {} layers", full_key(key), list->size(), layers));
  out.resize(static_cast<std::size_t>(layers));
  return out;
}

int Builder::positive(std::string_view key, std::optional<int> fallback) {
  const int value = integer(key, fallback);
  if (value > 0) return value;
  error(ErrorCode::kCorrupt, fmt::format("key {} is {}, wanted at least 1", full_key(key), value));
  return 1;
}

double Builder::number(std::string_view key, std::optional<double> fallback) {
  const MetadataValue* value = find(key);
  if (value == nullptr) {
    if (!fallback) error(ErrorCode::kCorrupt, fmt::format("key {} is missing", full_key(key)));
    return fallback.value_or(0);
  }
  double found = std::nan("");
  if (const auto* real = std::get_if<double>(value)) found = *real;
  if (const auto* whole = std::get_if<std::int64_t>(value)) found = static_cast<double>(*whole);
  require(std::isfinite(found), fmt::format("key {} is not a finite number", full_key(key)));
  return std::isfinite(found) ? found : fallback.value_or(0);
}

std::string Builder::text(std::string_view key, std::string_view fallback) {
  const MetadataValue* value = find(key);
  if (value == nullptr) return std::string(fallback);
  const auto* found = std::get_if<std::string_view>(value);
  require(found != nullptr, fmt::format("key {} is not text", full_key(key)));
  return found != nullptr ? std::string(*found) : std::string(fallback);
}

bool Builder::flag(std::string_view key, bool fallback) {
  const MetadataValue* value = find(key);
  if (value == nullptr) return fallback;
  const auto* found = std::get_if<bool>(value);
  require(found != nullptr, fmt::format("key {} is not true or false", full_key(key)));
  return found != nullptr ? *found : fallback;
}

int Builder::vocabulary() {
  std::int64_t size = 0;
  if (const MetadataValue* tokens = file_.find_metadata("tokenizer.ggml.tokens")) {
    if (const auto* list = std::get_if<std::vector<std::string_view>>(tokens))
      size = static_cast<std::int64_t>(list->size());
  }
  if (size == 0) return positive("vocab_size");
  require(size <= kLargestInteger,
          fmt::format("tokenizer.ggml.tokens has {} entries, wanted at most {}", size, kLargestInteger));
  if (find("vocab_size") != nullptr) {
    const int said = positive("vocab_size");
    require(said == size,
            fmt::format("key {} is {}, but tokenizer.ggml.tokens has {} entries", full_key("vocab_size"), said, size));
  }
  return static_cast<int>(std::min<std::int64_t>(size, kLargestInteger));
}

Scope Builder::layer(int index) { return Scope(*this, fmt::format("blk.{}.", index)); }

NormWeight Builder::norm(Scope scope, std::string_view name, int width) {
  const double eps = number("attention.layer_norm_rms_epsilon");
  require(eps >= 0 && eps < 1,
          fmt::format("key {} is {}, wanted 0 to 1", full_key("attention.layer_norm_rms_epsilon"), eps));
  return {scope.vector(name, width), static_cast<float>(eps)};
}

int Builder::rope(const RopeSpec& spec) {
  Result<Rope> rope = Rope::make(spec);
  if (!rope) {
    error(rope.error().code, rope.error().message);
    return -1;
  }
  model_.ropes_.push_back(std::move(*rope));
  return static_cast<int>(model_.ropes_.size()) - 1;
}

std::vector<float> Builder::floats(std::string_view name, int count) {
  const RawTensor* raw = file_.find_tensor(name);
  if (raw == nullptr) return {};
  used_.insert(std::string(name));
  if (!check_shape(*raw, {std::string(name), TensorKind::kNorm, 1, count}) || raw->data == nullptr) return {};
  std::vector<float> values(static_cast<std::size_t>(count));
  raw->format->decode(raw->data, count, values.data());
  return values;
}

float Builder::scalar(const std::string& name, float fallback) {
  const std::vector<float> values = floats(name, 1);
  if (values.empty()) return fallback;
  require(std::isfinite(values[0]), fmt::format("tensor '{}' is not a finite number", name));
  return values[0];
}

bool Builder::has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

const Weight* Builder::request(const TensorPlan& plan, Presence presence) {
  if (plan.is_matrix()) model_.widest_input_ = std::max(model_.widest_input_, plan.cols);
  const std::string key = plan.first_row > 0 ? fmt::format("{}, rows from {}", plan.name, plan.first_row) : plan.name;
  if (const auto known = weights_.find(key); known != weights_.end()) return known->second;
  if (options_.mode == BuildMode::kPlan) {
    const bool untied_head = plan.name == "output.weight" && !options_.plan_tied;
    if (presence == Presence::kOptional && !untied_head) return nullptr;
    plan_.push_back(plan);
    return weights_[key] = add_weight(nullptr, plan);
  }
  const RawTensor* raw = file_.find_tensor(plan.name);
  if (raw == nullptr) {
    if (presence == Presence::kRequired) {
      error(ErrorCode::kCorrupt, fmt::format("tensor '{}' {} is missing", plan.name, extents_of(plan)));
    }
    return nullptr;
  }
  used_.insert(plan.name);
  if (!check_shape(*raw, plan)) return nullptr;
  return weights_[key] = add_weight(raw, plan);
}

bool Builder::check_shape(const RawTensor& raw, const TensorPlan& plan) {
  bool fits = raw.extents[0] == plan.cols && raw.extents[1] == (plan.file_rows > 0 ? plan.file_rows : plan.rows) &&
              raw.extents[2] == std::max(plan.experts, 1) && raw.extents[3] == 1;
  if (plan.kind == TensorKind::kTaps)  // Some files have an extent of one between the two.
    fits = raw.extents[0] == plan.cols && raw.values() == std::int64_t{plan.cols} * plan.rows;
  if (!fits) {
    const auto* e = raw.extents.data();
    error(ErrorCode::kCorrupt, fmt::format("tensor '{}' has the shape [{}], wanted {}", plan.name,
                                           fmt::join(e, e + std::clamp(raw.dimensions, 1, 4), ", "), extents_of(plan)));
    return false;
  }
  if (raw.format == nullptr || !raw.format->info.can_compute) {
    error(ErrorCode::kUnsupported, fmt::format("tensor '{}' has the type {}, which plait does not compute with",
                                               plan.name, raw.format == nullptr ? "unknown" : raw.format->info.name));
    return false;
  }
  if (plan.kind == TensorKind::kMatrix || raw.format->info.is_float) return true;
  if (plan.kind == TensorKind::kNorm || plan.kind == TensorKind::kBias) {
    error(ErrorCode::kCorrupt,
          fmt::format("tensor '{}' has the type {}, wanted f32, f16 or bf16", plan.name, raw.format->info.name));
    return false;
  }
  rounded_.push_back(fmt::format("{} as {}", plan.name, raw.format->info.name));
  return true;
}

Weight* Builder::add_weight(const RawTensor* raw, const TensorPlan& plan) {
  Weight& weight = model_.weights_.emplace_back();
  const bool is_vector = !plan.is_matrix();
  weight.rows = is_vector ? 1 : plan.rows;
  weight.cols = is_vector ? plan.rows * plan.cols : plan.cols;
  weight.experts = std::max(plan.experts, 1);
  model_.spec_.parameters += static_cast<std::int64_t>(plan.rows) * plan.cols * weight.experts;
  if (raw != nullptr) {
    weight.format = raw->format;
    weight.file_bytes = raw->bytes;
    if (plan.file_rows > 0) {
      weight.file_bytes = raw->bytes / static_cast<std::size_t>(plan.file_rows) * static_cast<std::size_t>(plan.rows);
    }
  }
  requests_.push_back({&weight, raw, plan});
  return &weight;
}

void Builder::embed(const Weight* table) { model_.embedding_ = table; }

void Builder::add(ResidualParts parts) { model_.blocks_.push_back(residual_block(std::move(parts))); }

void Builder::head(NormWeight norm, const Weight* matrix) {
  model_.output_norm_ = norm;
  model_.head_ = matrix != nullptr ? matrix : model_.embedding_;
}

}  // namespace plait
