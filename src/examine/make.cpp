// make: a plan from the architecture's function, then tensor after tensor, generated, encoded and written.
#include "examine/make.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "base/thread_pool.h"
#include "examine/made_tokenizer.h"
#include "examine/make_shape.h"
#include "examine/random_tensor.h"
#include "formats/all.h"
#include "io/gguf_writer.h"

namespace plait {
namespace {

constexpr std::int64_t kPieceValues = 1 << 21;  // Generated and encoded at once, over all threads.

// Labels of general.file_type. Only a label: readers go by the type of each tensor.
std::uint32_t file_type(std::string_view format) {
  struct Entry {
    std::string_view name;
    std::uint32_t label;
  };
  static constexpr Entry kLabels[] = {
      {"f32", 0},   {"f16", 1},    {"q4_0", 2},   {"q4_1", 3},   {"q8_0", 7},   {"q5_0", 8},    {"q5_1", 9},
      {"q2_k", 10}, {"q3_k", 11},  {"q4_k", 14},  {"q5_k", 16},  {"q6_k", 18},  {"iq4_nl", 25}, {"iq4_xs", 30},
      {"bf16", 32}, {"tq1_0", 36}, {"tq2_0", 37}, {"mxfp4", 38}, {"nvfp4", 39}, {"q1_0", 40},   {"q2_0", 41}};
  for (const Entry& entry : kLabels) {
    if (entry.name == format) return entry.label;
  }
  return 0;
}

Result<const Architecture*> find(const MakeRequest& request) {
  if (const Architecture* found = find_architecture(request.architecture)) return found;
  std::vector<std::string_view> known;
  for (const Architecture& architecture : architectures()) known.push_back(architecture.name);
  return fail(ErrorCode::kInvalidArgument, fmt::format("there is no architecture '{}'; known are {}",
                                                       printable(request.architecture), fmt::join(known, ", ")));
}

// The first matrix whose rows are not made of whole blocks; null: all fit.
const TensorPlan* misfit(const std::vector<TensorPlan>& plan, const Format& format) {
  for (const TensorPlan& tensor : plan) {
    if (tensor.kind == TensorKind::kMatrix && tensor.cols % format.info.block_values != 0) return &tensor;
  }
  return nullptr;
}

Result<const Format*> choose_type(const MakeRequest& request, const std::vector<TensorPlan>& plan) {
  if (request.type.empty()) {
    for (const std::string_view name : {"q4_k", "q8_0"}) {
      const Format* format = find_format(name);
      if (misfit(plan, *format) == nullptr) return format;
    }
    return find_format("f16");
  }
  const auto can_write = [](const Format& format) { return format.encode != nullptr && format.info.in_gguf(); };
  const Format* format = find_format(request.type);
  if (format == nullptr || !can_write(*format)) {
    std::vector<std::string_view> known;
    for (const Format& entry : all_formats()) {
      if (can_write(entry)) known.push_back(entry.info.name);
    }
    return fail(ErrorCode::kInvalidArgument, fmt::format("type '{}' cannot be written; known are {}",
                                                         printable(request.type), fmt::join(known, ", ")));
  }
  if (const TensorPlan* tensor = misfit(plan, *format)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("type {} does not fit tensor '{}': its width {} is no multiple of {}", format->info.name,
                            tensor->name, tensor->cols, format->info.block_values));
  }
  return format;
}

std::vector<GgufEntry> describe(const MakeRequest& request, const MakeShape& shape, std::vector<GgufEntry> tokenizer) {
  std::vector<GgufEntry> metadata = {
      {"general.architecture", request.architecture},
      {"general.type", std::string("model")},
      {"general.name", fmt::format("random {}, seed {}", request.architecture, request.seed)},
  };
  metadata.insert(metadata.end(), shape.metadata.begin(), shape.metadata.end());
  metadata.insert(metadata.end(), std::make_move_iterator(tokenizer.begin()), std::make_move_iterator(tokenizer.end()));
  return metadata;
}

// Runs the architecture's function over metadata alone.
Result<std::vector<TensorPlan>> plan_tensors(const Architecture& architecture, const std::vector<GgufEntry>& metadata,
                                             const MakeRequest& request, bool tied) {
  const auto file = open_model_bytes(fmt::format("shape {}", printable(request.shape)), gguf_header(metadata, {}));
  if (!file) return fail(file.error());
  BuildOptions options;
  options.mode = BuildMode::kPlan;
  options.plan_tied = tied;
  Builder builder(**file, request.architecture, options);
  if (Result<Model> model = architecture.build(builder); !model) return fail(model.error());
  return builder.plan();
}

// Activations stay of order one: a matrix divides by the root of its width. Rows of an embedding table are activations
// themselves, unless the table is the head too.
RandomTensor distribution(const TensorPlan& tensor, const MakeRequest& request, bool tied) {
  const std::uint64_t seed = RandomTensor::seed_of(request.seed, tensor.name);
  switch (tensor.kind) {
    case TensorKind::kNorm:
      return {seed, 1, 0.1f};
    case TensorKind::kBias:
      return {seed, 0, 0.1f};
    case TensorKind::kDecay:  // Of these two a state loses some percent a token.
      return {seed, -4, 1};
    case TensorKind::kStep:
      return {seed, -4.5f, 0.7f};
    case TensorKind::kMatrix:
    case TensorKind::kFloatMatrix:
    case TensorKind::kTaps:
      break;
  }
  if (tensor.name == "token_embd.weight" && !tied) return {seed, 0, 1};
  return {seed, 0, 1 / std::sqrt(static_cast<float>(tensor.cols))};
}

Result<void> write_tensor(const TensorPlan& tensor, const RandomTensor& values, const Format& format, ThreadPool& pool,
                          GgufWriter& writer) {
  const std::int64_t row_bytes = std::int64_t{tensor.cols} / format.info.block_values * format.info.block_bytes;
  const int rows_at_once = static_cast<int>(std::clamp<std::int64_t>(kPieceValues / tensor.cols, 1, tensor.rows));
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows_at_once * row_bytes));
  const std::int64_t all_rows = std::int64_t{tensor.rows} * std::max(tensor.experts, 1);
  for (std::int64_t row = 0; row < all_rows; row += rows_at_once) {
    const int rows = static_cast<int>(std::min<std::int64_t>(rows_at_once, all_rows - row));
    pool.parallel_for(rows, [&](int begin, int end, int /*worker*/) {
      std::vector<float> floats(static_cast<std::size_t>(tensor.cols));
      for (int i = begin; i < end; ++i) {
        values.fill(static_cast<std::uint64_t>(row + i) * static_cast<std::uint64_t>(tensor.cols), floats);
        format.encode(floats.data(), tensor.cols, bytes.data() + i * row_bytes);
      }
    });
    const std::span written(bytes.data(), static_cast<std::size_t>(rows * row_bytes));
    if (Result<void> put = writer.write(written); !put) return put;
  }
  return {};
}

}  // namespace

Result<MakeReport> make_model(const MakeRequest& request) {
  const Result<const Architecture*> architecture = find(request);
  if (!architecture) return fail(architecture.error());
  const Result<MakeShape> shape = read_shape(**architecture, request.shape);
  if (!shape) return fail(shape.error());
  Result<std::vector<GgufEntry>> tokenizer = made_tokenizer(shape->vocabulary);
  if (!tokenizer) return fail(tokenizer.error());
  std::vector<GgufEntry> metadata = describe(request, *shape, *std::move(tokenizer));
  const Result<std::vector<TensorPlan>> plan = plan_tensors(**architecture, metadata, request, shape->tied);
  if (!plan) return fail(plan.error());
  const Result<const Format*> type = choose_type(request, *plan);
  if (!type) return fail(type.error());
  metadata.push_back({"general.file_type", file_type((*type)->info.name)});
  metadata.push_back({"general.quantization_version", std::uint32_t{2}});

  const Format* const f32 = find_format("f32");
  MakeReport report{.type = std::string((*type)->info.name), .tensors = static_cast<int>(plan->size())};
  std::vector<GgufTensor> tensors;
  std::size_t total = 0, done = 0;
  for (const TensorPlan& tensor : *plan) {
    std::vector<std::int64_t> extents{tensor.cols};
    if (tensor.is_matrix() || tensor.kind == TensorKind::kTaps) extents.push_back(tensor.rows);
    if (tensor.experts > 0) extents.push_back(tensor.experts);
    tensors.push_back({tensor.name, tensor.kind == TensorKind::kMatrix ? *type : f32, std::move(extents)});
    total += tensors.back().bytes();
    report.parameters += std::int64_t{tensor.rows} * tensor.cols * std::max(tensor.experts, 1);
  }
  Result<GgufWriter> writer = GgufWriter::create(request.path, metadata, tensors);
  if (!writer) return fail(writer.error());
  ThreadPool pool(request.threads);
  if (pool.threads() != request.threads) {
    return fail(ErrorCode::kNoMemory, fmt::format("{} threads are wanted, the system gives {}; fewer can be asked for",
                                                  request.threads, pool.threads()));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorPlan& tensor = (*plan)[i];
    const RandomTensor values = distribution(tensor, request, shape->tied);
    if (Result<void> put = write_tensor(tensor, values, *tensors[i].format, pool, *writer); !put)
      return fail(put.error());
    done += tensors[i].bytes();
    if (request.progress && !request.progress(done, total)) {
      return fail(ErrorCode::kCancelled, fmt::format("{}: not written, as asked", request.path));
    }
  }
  if (Result<void> finished = writer->finish(); !finished) return fail(finished.error());
  report.bytes = writer->bytes_written();
  return report;
}

}  // namespace plait
