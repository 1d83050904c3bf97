// CpuBackend: rows of the embedding table, decoded out of the memory that the head reads too.
#include <functional>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/packing.h"

namespace plait {

void CpuBackend::embed(std::span<const Token> tokens, const Weight& table, float scale, Tensor out) {
  check(static_cast<int>(tokens.size()) <= out.rows && table.cols == out.cols, "an embedding fits its output");
  const std::byte* weights = table.buffer->host() + table.offset;
  const Format& format = *table.format;
  const LinearKernel* kernel =
      is_plain_vector(format, table.rows) ? nullptr : kernels_.find_linear(format.info.gguf_type);
  const Mat<float> rows = out.host();
  const auto body = [&](int begin, int end, int) {
    for (int t = begin; t < end; ++t) {
      const Token token = tokens[static_cast<std::size_t>(t)];
      check(token >= 0 && token < table.rows, "a token has a row in the table");
      float* y = rows.row(t);
      if (kernel != nullptr) {
        kernel->decode_row(weights, token, table.cols, y);
      } else {
        format.decode(weights + static_cast<std::size_t>(token) * file_row_bytes(format.info, table.cols), table.cols,
                      y);
      }
      if (scale == 1.0f) continue;
      for (int i = 0; i < table.cols; ++i) y[i] *= scale;
    }
  };
  pool_.parallel_for(static_cast<int>(tokens.size()), std::ref(body));
}

}  // namespace plait
