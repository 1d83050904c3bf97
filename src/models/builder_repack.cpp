// Builder: weights that another load has packed, kept in a file beside the model.
#include <fmt/format.h>

#include "base/thread_pool.h"
#include "formats/all.h"
#include "models/builder.h"

namespace plait {
namespace {

// Over the backend's threads.
ForRanges ranges_over(Backend& backend) {
  return [&backend](int count, const std::function<void(int, int)>& body) {
    backend.host([&](const Kernels&, ThreadPool& pool) {
      pool.parallel_for(count, [&body](int begin, int end, int /*worker*/) { body(begin, end); });
    });
  };
}

// The matrix as load() would get it, without its bytes.
RawTensor shape_of(const RawTensor& raw, const TensorPlan& plan, const Weight& weight) {
  RawTensor out = raw;
  if (plan.experts > 0) {
    out.dimensions = 2;
    out.extents = {plan.cols, plan.rows, 1, 1};
  } else if (weight.rows == 1) {
    out.dimensions = 1;
    out.extents = {raw.values(), 1, 1, 1};
    out.format = find_format("f32");
  }
  return out;
}

}  // namespace

void Builder::place_weights() {
  std::size_t offset = 0;
  for (const Request& request : requests_) {
    Weight& weight = *request.weight;
    const std::size_t file_bytes = weight.file_bytes;
    const int experts = request.plan.experts;
    const RawTensor shape = shape_of(*request.raw, request.plan, weight);
    weight = options_.backend->place(shape, *model_.memory_, offset);
    weight.file_bytes = file_bytes;
    if (experts > 0) {
      weight.experts = experts;
      for (int e = 1; e < experts; ++e)
        options_.backend->place(shape, *model_.memory_, offset + static_cast<std::size_t>(e) * weight.bytes);
      weight.bytes *= static_cast<std::size_t>(experts);
    }
    offset += weight.bytes;
  }
}

std::string Builder::repack_path() const {
  const bool can = options_.repack_cache && options_.backend->is_host() && !file_.stamps().empty();
  return can ? std::string(file_.path()) + ".repack" : "";
}

RepackStamp Builder::repack_stamp() const {
  RepackStamp stamp{.model = kHashStart, .layout = kHashStart, .checked = options_.check_values};
  for (const FileStamp& file : file_.stamps()) {
    stamp.model = mix_number(stamp.model, file.bytes);
    stamp.model = mix_number(stamp.model, static_cast<std::uint64_t>(file.modified_ns));
  }
  const auto mix = [&stamp](auto number) {
    stamp.layout = mix_number(stamp.layout, static_cast<std::uint64_t>(number));
  };
  for (const Request& request : requests_) {
    stamp.layout = mix_bytes(stamp.layout, std::as_bytes(std::span(request.raw->name)));
    for (const int number : {request.raw->format->info.gguf_type, request.weight->rows, request.weight->cols,
                             request.plan.experts, request.plan.first_row, static_cast<int>(request.plan.kind)}) {
      mix(number);
    }
    for (const int part : request.plan.parts) mix(part);
  }
  return stamp;
}

bool Builder::read_repacked() {
  const std::string path = repack_path();
  if (path.empty()) return false;
  const Result<void> read = read_repack_cache(path, repack_stamp(), {model_.memory_->host(), model_.spec_.weight_bytes},
                                              ranges_over(*options_.backend));
  if (!read && read.error().code != ErrorCode::kNotFound)
    notes_.push_back(fmt::format("{}; it is made anew", read.error().message));
  return read.has_value();
}

void Builder::write_repacked() {
  const std::string path = repack_path();
  if (path.empty()) return;
  const Result<void> written = write_repack_cache(
      path, repack_stamp(), {model_.memory_->host(), model_.spec_.weight_bytes}, ranges_over(*options_.backend));
  if (!written) notes_.push_back(fmt::format("the packed weights are not kept: {}", written.error().message));
}

}  // namespace plait
