// CpuBackend: weights in memory.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/packing.h"
#include "kernels/tile.h"

namespace plait {
namespace {

// Weights of this size and more are asked for in large pages: reading them misses fewer address translations (decode of
// 335 MB on a Zen 5 server, one thread: 13.9 to 10.4 ms). Smaller ones load sooner without.
constexpr std::size_t kLargePageBytes = std::size_t{256} << 20;

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::size_t CpuBackend::weight_bytes(const Format& format, int rows, int cols) const {
  if (is_plain_vector(format, rows) || find_packer(format.info.gguf_type) == nullptr) {
    return round_up(static_cast<std::size_t>(rows) * file_row_bytes(format.info, cols));
  }
  return static_cast<std::size_t>(weight_pairs(rows)) * packed_pair_bytes(format.info, cols);
}

Weight CpuBackend::weight_at(const RawTensor& raw, Buffer& buffer, std::size_t offset) const {
  const int rows = static_cast<int>(raw.rows()), cols = static_cast<int>(raw.cols());
  const std::size_t bytes = weight_bytes(*raw.format, rows, cols);
  check(offset % 64 == 0 && offset + bytes <= buffer.bytes(), "a weight has its place in the buffer");
  check(cols % raw.format->info.block_values == 0 || raw.format->info.block_values == 32,
        "only a block of 32 may end early");
#ifdef MADV_HUGEPAGE
  if (offset == 0 && buffer.bytes() >= kLargePageBytes)
    ::madvise(buffer.host(), buffer.bytes(), MADV_HUGEPAGE);  // A hint.
#endif
  return {.format = raw.format,
          .rows = rows,
          .cols = cols,
          .buffer = &buffer,
          .offset = offset,
          .bytes = bytes,
          .file_bytes = static_cast<std::size_t>(rows) * file_row_bytes(raw.format->info, cols)};
}

// Memory lies on the node of the thread that writes it first. With several nodes that must be the worker whose share in
// products these pairs are, even if it is late.
void CpuBackend::for_pairs(int pairs, const std::function<void(int begin, int end, int worker)>& body) {
  pool_.parallel_for(pairs, body, by_node() ? ThreadPool::Sharing::kOwn : ThreadPool::Sharing::kAny);
}

Weight CpuBackend::place(const RawTensor& raw, Buffer& buffer, std::size_t offset) {
  const Weight weight = weight_at(raw, buffer, offset);
  if (!by_node()) return weight;
  const auto pairs = static_cast<std::size_t>(weight_pairs(weight.rows));
  std::byte* const bytes = buffer.host() + offset;
  for_pairs(static_cast<int>(pairs), [&](int begin, int end, int) {
    const std::size_t from = weight.bytes * static_cast<std::size_t>(begin) / pairs;
    const std::size_t to = weight.bytes * static_cast<std::size_t>(end) / pairs;
    for (std::size_t at = from; at < to; at += kPageBytes) bytes[at] = std::byte{0};
  });
  return weight;
}

Weight CpuBackend::load(const RawTensor& raw, Buffer& buffer, std::size_t offset) {
  const Weight weight = weight_at(raw, buffer, offset);
  const Format& format = *raw.format;
  const int rows = weight.rows, cols = weight.cols;
  const std::size_t row_bytes = file_row_bytes(format.info, cols);
  check(raw.bytes >= static_cast<std::size_t>(rows) * row_bytes, "a tensor holds all of its rows");
  std::byte* to = buffer.host() + offset;
  const Packer* packer = is_plain_vector(format, rows) ? nullptr : find_packer(format.info.gguf_type);
  const std::size_t pair_bytes = packed_pair_bytes(format.info, cols);
  const auto body = [&](int begin, int end, int) {
    for (int pair = begin; pair < end; ++pair) {
      const int first = pair * kPairRows, count = std::min(rows - first, kPairRows);
      const std::byte* from = raw.data + static_cast<std::size_t>(first) * row_bytes;
      if (packer == nullptr) {
        std::memcpy(to + static_cast<std::size_t>(first) * row_bytes, from,
                    static_cast<std::size_t>(count) * row_bytes);
      } else {
        packer->pack({.rows = from, .row_bytes = row_bytes, .count = count, .cols = cols},
                     to + static_cast<std::size_t>(pair) * pair_bytes);
      }
    }
  };
  for_pairs(weight_pairs(rows), body);
  return weight;
}

}  // namespace plait
