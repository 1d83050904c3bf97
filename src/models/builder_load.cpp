// Builder: from the list of what was asked for to memory, and the checks that come with it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/memory.h"
#include "base/text.h"
#include "formats/all.h"
#include "io/scan.h"
#include "models/builder.h"

namespace plait {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// A vector is held as f32.
RawTensor shape_of_vector(const RawTensor& raw) {
  RawTensor out = raw;
  out.dimensions = 1;
  out.extents = {raw.values(), 1, 1, 1};
  out.format = find_format("f32");
  return out;
}

// A vector as f32, whatever type the file keeps it in; taps with the oldest of all channels first.
RawTensor widened(const RawTensor& raw, TensorKind kind, std::vector<float>& values) {
  values.resize(static_cast<std::size_t>(raw.values()));
  raw.format->decode(raw.data, raw.values(), values.data());
  if (kind == TensorKind::kTaps) {
    const auto taps = static_cast<std::size_t>(raw.extents[0]);
    const std::vector<float> file = values;
    const std::size_t channels = file.size() / taps;
    for (std::size_t i = 0; i < file.size(); ++i) values[i % taps * channels + i / taps] = file[i];
  }
  RawTensor out = shape_of_vector(raw);
  out.data = reinterpret_cast<const std::byte*>(values.data());
  out.bytes = values.size() * sizeof(float);
  return out;
}

// The rows part by part: see TensorPlan.
RawTensor regrouped(const RawTensor& raw, const std::vector<int>& parts, std::vector<std::byte>& rows) {
  const int group = std::accumulate(parts.begin(), parts.end(), 0);
  const auto groups = static_cast<std::size_t>(raw.rows() / group);
  const std::size_t row_bytes = raw.bytes / static_cast<std::size_t>(raw.rows());
  rows.resize(raw.bytes);
  std::byte* to = rows.data();
  std::size_t first = 0;  // Row of the part in its group.
  for (const int part : parts) {
    for (std::size_t g = 0; g < groups; ++g) {
      const std::byte* from = raw.data + (g * static_cast<std::size_t>(group) + first) * row_bytes;
      to = std::copy_n(from, static_cast<std::size_t>(part) * row_bytes, to);
    }
    first += static_cast<std::size_t>(part);
  }
  RawTensor out = raw;
  out.data = rows.data();
  return out;
}

// One expert's matrix of a stack: some rows, or all.
RawTensor expert_of(const RawTensor& raw, const TensorPlan& plan, int expert) {
  const std::size_t row_bytes = raw.bytes / static_cast<std::size_t>(raw.rows());
  const std::size_t first = static_cast<std::size_t>(expert) * static_cast<std::size_t>(raw.extents[1]) +
                            static_cast<std::size_t>(plan.first_row);
  RawTensor out = raw;
  out.dimensions = 2;
  out.extents = {plan.cols, plan.rows, 1, 1};
  out.data = raw.data + first * row_bytes;
  out.bytes = static_cast<std::size_t>(plan.rows) * row_bytes;
  return out;
}

// N of "blk.N.name"; -1: another name.
int block_of(std::string_view name) {
  int number = -1;
  if (!name.starts_with("blk.")) return -1;
  const auto [end, error] = std::from_chars(name.data() + 4, name.data() + name.size(), number);
  return error == std::errc() && end != name.data() + name.size() && *end == '.' ? number : -1;
}

// The first of some names.
std::string some_of(const std::vector<std::string>& names) {
  const std::size_t shown = std::min<std::size_t>(names.size(), 4);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     names.size() > shown ? ", ..." : "");
}

bool is_vector(const Weight& weight) { return weight.rows == 1; }

}  // namespace

Result<Model> Builder::finish() {
  if (error_) return fail(*error_);
  if (options_.mode != BuildMode::kPlan) note_unused();
  describe();
  if (options_.mode == BuildMode::kLoad) {
    if (Result<void> loaded = load_weights(); !loaded) return fail(loaded.error());
  }
  return std::move(model_);
}

void Builder::describe() {
  ModelSpec& spec = model_.spec_;
  spec.vocabulary = model_.embedding_->rows;
  spec.dim = model_.embedding_->cols;
  for (const auto& block : model_.blocks_) spec.layers.push_back({block->mixer(), block->ffn(), block->state()});
  const bool tied = model_.head_ == model_.embedding_;
  for (const Request& request : requests_) {
    const Weight& weight = *request.weight;
    if (weight.format == nullptr) continue;
    const Format& format = is_vector(weight) ? *find_format("f32") : *weight.format;
    const auto experts = static_cast<std::size_t>(weight.experts);
    spec.weight_bytes += options_.backend != nullptr
                             ? experts * options_.backend->weight_bytes(format, weight.rows, weight.cols)
                             : weight.file_bytes;
    if (&weight == model_.embedding_ && !tied) continue;
    const auto used = static_cast<std::size_t>(std::max(request.plan.experts_used, 1));
    spec.step_weight_bytes += weight.file_bytes / experts * used;
  }
}

Result<void> Builder::load_weights() {
  const std::size_t total = model_.spec_.weight_bytes;
  if (const std::size_t available = available_memory(); total > available) {
    return fail(ErrorCode::kNoMemory,
                fmt::format("{}: the weights need {:.0f} MiB of memory, {:.0f} MiB are available", file_.path(),
                            static_cast<double>(total) / kMiB, static_cast<double>(available) / kMiB));
  }
  Result<std::unique_ptr<Buffer>> memory = options_.backend->allocate(total);
  if (!memory) return fail(memory.error());
  model_.memory_ = std::move(*memory);
  const bool repacked = read_repacked();
  if (repacked) {
    place_weights();
    for (const Request& request : requests_) file_.release(*request.raw);
    if (options_.progress) options_.progress(total, total);
    return {};
  }
  if (Result<void> packed = pack_weights(); !packed) return packed;
  write_repacked();
  return {};
}

Result<void> Builder::pack_weights() {
  std::size_t offset = 0;
  std::vector<float> values;
  std::vector<std::byte> rows;
  for (const Request& request : requests_) {
    const RawTensor& raw = *request.raw;
    if (options_.check_values) {
      if (Result<void> scanned = scan_tensor(raw); !scanned) {
        return fail(scanned.error().code, fmt::format("{}: {}", file_.path(), scanned.error().message));
      }
    }
    Weight& weight = *request.weight;
    const std::size_t file_bytes = weight.file_bytes;
    if (request.plan.experts > 0) {
      weight = load_stack(raw, request.plan, offset);
    } else {
      RawTensor source = is_vector(weight) ? widened(raw, request.plan.kind, values) : raw;
      if (!request.plan.parts.empty()) source = regrouped(source, request.plan.parts, rows);
      weight = options_.backend->load(source, *model_.memory_, offset);
    }
    weight.file_bytes = file_bytes;
    offset += weight.bytes;
    file_.release(raw);
    if (options_.progress) options_.progress(offset, model_.spec_.weight_bytes);
  }
  return {};
}

Weight Builder::load_stack(const RawTensor& raw, const TensorPlan& plan, std::size_t offset) {
  Weight stack = options_.backend->load(expert_of(raw, plan, 0), *model_.memory_, offset);
  const std::size_t bytes = stack.bytes;
  for (int expert = 1; expert < plan.experts; ++expert) {
    offset += bytes;
    options_.backend->load(expert_of(raw, plan, expert), *model_.memory_, offset);
  }
  stack.experts = plan.experts;
  stack.bytes = bytes * static_cast<std::size_t>(plan.experts);
  return stack;
}

void Builder::note_unused() {
  std::vector<std::string> names;
  int predicting = 0;
  for (const RawTensor& tensor : file_.tensors()) {
    if (used_.contains(std::string(tensor.name))) continue;
    if (block_of(tensor.name) >= trunk_) {
      ++predicting;
    } else {
      names.push_back(printable(tensor.name));
    }
  }
  if (predicting > 0)
    note(fmt::format("{} tensors of multi-token prediction, from blk.{} on, are not used yet", predicting, trunk_));
  if (!rounded_.empty())
    note(fmt::format("{} tensors cost accuracy, for they should be f32, f16 or bf16 and are kept otherwise: {}",
                     rounded_.size(), some_of(rounded_)));
  if (!names.empty())
    note(
        fmt::format("{} tensors are not used by the architecture {}: {}", names.size(), architecture_, some_of(names)));
}

}  // namespace plait
