// LinearCase: a matrix of random blocks of one format, with inputs, for tests of products.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "backend/backend.h"
#include "formats/all.h"
#include "support/linear_reference.h"

namespace plait {

// Random bytes, drawn again where a block's scales are not finite (or, with `tame`, where they are large).
inline std::vector<std::byte> random_blocks(const Format& format, int count, unsigned seed, bool tame = false) {
  const FormatInfo& info = format.info;
  std::mt19937 source(seed);
  std::uniform_int_distribution<int> bytes(0, 255);
  std::vector<std::byte> out(static_cast<std::size_t>(count) * static_cast<std::size_t>(info.block_bytes));
  const float limit = tame ? 4.0f : 1e30f;
  const auto fits = [&](const std::byte* block) {
    if (info.is_float) {
      float value;
      format.decode(block, 1, &value);
      return std::abs(value) < limit && (!tame || std::abs(value) > 1e-4f);
    }
    for (int g = 0; g < info.block_values / 32; ++g) {
      Group group{};
      format.group(block, g, group);
      for (int part = 0; part < info.scales_per_group; ++part) {
        if (!(std::abs(group.scales[part]) < limit) || !(std::abs(group.mins[part]) < limit)) return false;
      }
    }
    return true;
  };
  for (int i = 0; i < count; ++i) {
    std::byte* block = out.data() + static_cast<std::ptrdiff_t>(i) * info.block_bytes;
    do {
      for (int b = 0; b < info.block_bytes; ++b) block[b] = static_cast<std::byte>(bytes(source));
    } while (!fits(block));
  }
  return out;
}

struct LinearCase {
  const Format* format = nullptr;
  int rows = 0, cols = 0;
  std::vector<std::byte> bytes;
  std::unique_ptr<Buffer> memory;
  Weight weight;

  LinearCase(const Format& f, int row_count, int col_count, unsigned seed, bool tame = false)
      : format(&f), rows(row_count), cols(col_count) {
    bytes = random_blocks(f, rows * static_cast<int>(row_blocks(f.info, cols)), seed, tame);
  }
  void load(Backend& backend) {
    memory = std::move(*backend.allocate(backend.weight_bytes(*format, rows, cols)));
    RawTensor raw{.name = "w", .format = format, .dimensions = 2, .data = bytes.data(), .bytes = bytes.size()};
    raw.extents = {cols, rows, 1, 1};
    weight = backend.load(raw, *memory, 0);
  }
  ReferenceLinear reference(int activations = 8) const {
    return {.format = format, .rows = bytes.data(), .row_count = rows, .cols = cols, .activations = activations};
  }
};

// A tensor with memory of its own.
struct OwnTensor {
  std::unique_ptr<Buffer> memory;
  Tensor view;

  OwnTensor(Backend& backend, int rows, int cols) {
    memory =
        std::move(*backend.allocate(sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)));
    view = {memory.get(), 0, rows, cols, cols};
  }
  OwnTensor(Backend& backend, int rows, int cols, const std::vector<float>& values) : OwnTensor(backend, rows, cols) {
    backend.write(values, view);
  }
  std::vector<float> values(Backend& backend) const {
    std::vector<float> out(static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols));
    backend.read(view, out);
    return out;
  }
};

}  // namespace plait
