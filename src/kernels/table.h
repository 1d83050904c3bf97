// make_kernels<V>(): the table of one instruction set. Included only inside the region of an isa/ file.
#pragma once

#include "formats/list.h"
#include "kernels/decode.h"
#include "kernels/float_table.h"
#include "kernels/kernels.h"
#include "kernels/panel.h"
#include "kernels/quantize.h"
#include "kernels/vocabulary.h"

namespace plait {

template <class V, class F>
constexpr LinearKernel quantized_kernel(int gguf_type) {
  return {.gguf_type = gguf_type,
          .is_float = false,
          .zero = F::template Tile<V>::kZero,
          .parts = F::kInfo.scales_per_group,
          .panel_from = panel_from<V, F, 1>(),
          .fine_panel_from = panel_from<V, F, kFinePlanes>(),
          .run = linear_quantized<V, F>,
          .run_fine = linear_fine<V, F>,
          .decode_row = decode_packed_row<V, F>,
          .decode_pair = decode_packed_pair<V, F>};
}

template <class V, class F>
constexpr void add_linear_kernel(Kernels& kernels, int& count) {
  if constexpr (F::kInfo.is_float) {
    kernels.linear[static_cast<std::size_t>(count++)] = {.gguf_type = F::kInfo.gguf_type,
                                                         .is_float = true,
                                                         .zero = 0,
                                                         .parts = 1,
                                                         .run = linear_float<V, F>,
                                                         .decode_row = decode_packed_row<V, F>};
  } else if constexpr (requires { F::template Tile<V>::kZero; }) {
    kernels.linear[static_cast<std::size_t>(count++)] = quantized_kernel<V, F>(F::kInfo.gguf_type);
  }
}

template <class V, class... Quantized, class... Floats>
constexpr Kernels make_kernels(FormatList<Quantized...>, FormatList<Floats...>) {
  Kernels kernels{};
  kernels.name = V::kName;
  kernels.floats = make_float_kernels<V>();
  kernels.quantize = quantize_activations<V, 1>;
  kernels.quantize_fine = quantize_activations<V, kFinePlanes>;
  int count = 0;
  (add_linear_kernel<V, Floats>(kernels, count), ...);
  (add_linear_kernel<V, Quantized>(kernels, count), ...);
  kernels.expanded = {{{quantized_kernel<V, Expanded<1, false>>(-1), quantized_kernel<V, Expanded<1, true>>(-1)},
                       {quantized_kernel<V, Expanded<2, false>>(-1), quantized_kernel<V, Expanded<2, true>>(-1)}}};
  return kernels;
}

}  // namespace plait
