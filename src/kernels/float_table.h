// make_float_kernels<V>(): the float functions of one instruction set. Included only inside the region of an isa/ file.
#pragma once

#include "kernels/attend.h"
#include "kernels/combine.h"
#include "kernels/conv.h"
#include "kernels/decay.h"
#include "kernels/float_kernels.h"
#include "kernels/glu.h"
#include "kernels/norm.h"
#include "kernels/recur.h"
#include "kernels/rope.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace plait {

template <class V>
constexpr FloatKernels make_float_kernels() {
  return {
      .dot16 = dot16<V>,
      .sum16 = sum16<V>,
      .exp = map<V, Exp<V>>,
      .log1p = map<V, Log1p<V>>,
      .silu = map<V, Silu<V>>,
      .sigmoid = map<V, Sigmoid<V>>,
      .softplus = map<V, Softplus<V>>,
      .tanh = map<V, Tanh<V>>,
      .gelu_tanh = map<V, GeluTanh<V>>,
      .relu2 = map<V, Relu2<V>>,
      .add = add_vectors<V>,
      .scale = scale_vector<V>,
      .glu = {glu<V, Silu<V>>, glu<V, GeluTanh<V>>, glu<V, Relu2<V>>},
      .gate = {glu<V, Sigmoid<V>>, glu<V, Silu<V>>, glu<V, Identity<V>>},
      .combine = combine<V>,
      .l2_norm = l2_norm<V>,
      .decay = decay<V>,
      .conv_token = {conv_token<V, false>, conv_token<V, true>},
      .recur_pairs = recur_pairs<V>,
      .recur_rows = recur_rows<V>,
      .rms_norm = rms_norm<V>,
      .rope_neighbours = rope_neighbours<V>,
      .rope_halves = rope_halves<V>,
      .attend_queries = kAttendQueries<V>,
      .write_keys = {write_keys<V, F32Rows>, write_keys<V, F16Rows>, write_keys<V, BF16Rows>},
      .write_values = {write_values<V, F32Rows>, write_values<V, F16Rows>, write_values<V, BF16Rows>},
      .scores = {scores<V, F32Rows>, scores<V, F16Rows>, scores<V, BF16Rows>},
      .softmax = softmax<V>,
      .weigh = {weigh<V, F32Rows>, weigh<V, F16Rows>, weigh<V, BF16Rows>},
      .merge = merge<V>,
  };
}

}  // namespace plait
