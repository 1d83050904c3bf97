// Packing, by each format's own pack() or, for floats, by transposing.
#include "backend/cpu/packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/list.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"

namespace plait {
namespace {

constexpr int kMaxBlockBytes = 256;
constexpr std::byte kZeroBlock[kMaxBlockBytes]{};  // For rows that only fill a pair up.

template <class F>
void pack_quantized(const PackSource& source, std::byte* pair) {
  static_assert(F::kInfo.block_bytes <= kMaxBlockBytes);
  const std::byte* blocks[kPairRows];
  const std::size_t count = static_cast<std::size_t>(row_blocks(F::kInfo, source.cols));
  for (std::size_t block = 0; block < count; ++block) {
    for (int row = 0; row < kPairRows; ++row) {
      const std::byte* begin = source.rows + static_cast<std::size_t>(row) * source.row_bytes;
      blocks[row] = row < source.count ? begin + block * F::kInfo.block_bytes : kZeroBlock;
    }
    F::pack(blocks, pair + block * F::kInfo.block_bytes * kPairRows);
  }
}

template <class F>
void pack_floats(const PackSource& source, std::byte* pair) {
  constexpr std::size_t kBytes = F::kInfo.block_bytes;
  constexpr int kSpan = 64;  // Values of a row that are moved before the next row: their lines stay in the cache.
  for (int begin = 0; begin < source.cols; begin += kSpan) {
    const int end = std::min(begin + kSpan, source.cols);
    for (int row = 0; row < kPairRows; ++row) {
      const std::byte* from = source.rows + static_cast<std::size_t>(row) * source.row_bytes;
      for (int k = begin; k < end; ++k) {
        std::byte* to = pair + static_cast<std::size_t>(k * kPairRows + row) * kBytes;
        if (row < source.count) {
          std::memcpy(to, from + static_cast<std::size_t>(k) * kBytes, kBytes);
        } else {
          std::memset(to, 0, kBytes);
        }
      }
    }
  }
}

template <class F>
constexpr Packer make_packer() {
  if constexpr (F::kInfo.is_float) {
    return {F::kInfo.gguf_type, pack_floats<F>};
  } else if constexpr (requires(const std::byte* const* blocks, std::byte* record) { F::pack(blocks, record); }) {
    return {F::kInfo.gguf_type, pack_quantized<F>};
  } else {
    return {};
  }
}

template <class... Floats, class... Quantized>
constexpr auto make_packers(FormatList<Floats...>, FormatList<Quantized...>) {
  return std::array{make_packer<Floats>()..., make_packer<Quantized>()...};
}

constexpr auto kPackers = make_packers(FloatFormats{}, QuantizedFormats{});

}  // namespace

const Packer* find_packer(int gguf_type) {
  for (const Packer& packer : kPackers) {
    if (packer.pack != nullptr && packer.gguf_type == gguf_type) return &packer;
  }
  return nullptr;
}

std::size_t file_row_bytes(const FormatInfo& info, int cols) {
  return static_cast<std::size_t>(row_blocks(info, cols)) * static_cast<std::size_t>(info.block_bytes);
}

void expand_pair(const Format& format, const PackSource& source, std::byte* pair) {
  const FormatInfo& info = format.info;
  const int parts = info.scales_per_group, groups = info.block_values / 32;
  const std::size_t scale_bytes = static_cast<std::size_t>(kPairRows * parts) * 4;
  const std::size_t codes_at = scale_bytes * (info.has_mins ? 2 : 1), record_bytes = codes_at + 32 * kPairRows;
  for (int row = 0; row < kPairRows; ++row) {
    const int tile = row / kTileRows, r = row % kTileRows;
    const std::byte* begin = source.rows + static_cast<std::size_t>(row) * source.row_bytes;
    for (int g = 0; g < activation_groups(source.cols); ++g) {
      Group group{};
      const std::size_t block = static_cast<std::size_t>(g / groups) * static_cast<std::size_t>(info.block_bytes);
      if (row < source.count) format.group(begin + block, g % groups, group);
      std::byte* record = pair + static_cast<std::size_t>(g) * record_bytes;
      for (int part = 0; part < parts; ++part) {
        std::byte* scale = record + ((tile * parts + part) * kTileRows + r) * 4;
        std::memcpy(scale, &group.scales[part], 4);
        if (info.has_mins) std::memcpy(scale + scale_bytes, &group.mins[part], 4);
      }
      CodeWords codes;
      std::memcpy(codes.word, group.values, sizeof codes.word);
      for (std::uint32_t& word : codes.word) word ^= 0x80808080u;
      put_plane(record + codes_at, row, codes, 8);
    }
  }
}

void decode_pair(const Format& format, const PackSource& source, float* pair) {
  const FormatInfo& info = format.info;
  const int parts = info.scales_per_group, groups = info.block_values / 32;
  for (int row = 0; row < kPairRows; ++row) {
    const std::byte* begin = source.rows + static_cast<std::size_t>(row) * source.row_bytes;
    for (int g = 0; g < activation_groups(source.cols); ++g) {
      Group group{};
      const std::size_t block = static_cast<std::size_t>(g / groups) * static_cast<std::size_t>(info.block_bytes);
      if (row < source.count) format.group(begin + block, g % groups, group);
      for (int i = 0; i < 32; ++i) {
        const int part = i * parts / 32;
        float value = static_cast<float>(group.values[i]) * group.scales[part];
        if (info.has_mins) value -= group.mins[part];
        pair[(32 * g + i) * kPairRows + row] = value;
      }
    }
  }
}

}  // namespace plait
