// Attention: softmax attention with grouped heads, rotary positions and optional norms of queries and keys.
#pragma once

#include <memory>

#include "backend/scope.h"
#include "mixers/mixer.h"

namespace plait {

struct AttentionSpec {
  int dim = 0;
  int heads = 0;
  int kv_heads = 0;  // Divides heads; query head h reads key head h / (heads / kv_heads).
  int key_dim = 0;   // Of one head.
  int value_dim = 0;
  float scale = 0;  // Of the scores.
  int rope = -1;    // Which of the model's rotary embeddings; -1: none.
  int rotated = 0;  // Leading values of each head that it turns.
  RopePairs pairs = RopePairs::kHalves;
  int window = 0;           // Zero: none.
  float soft_cap = 0;       // Zero: none.
  bool gated = false;       // attn_q also makes, for each head, an output gate: out * sigmoid(gate).
  bool norm_heads = false;  // RMS norm of each head of q and k before RoPE (attn_q_norm, attn_k_norm).
  float norm_eps = 0;
  Presence qkv_bias = Presence::kOptional;
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
};

// Weights: attn_q, attn_k, attn_v (or attn_qkv, fused in that order), attn_output; biases where they are there. Gated:
// the rows of attn_q are, head by head, those of q and those of the gate.
std::unique_ptr<Mixer> attention(const AttentionSpec& spec, Scope scope);

}  // namespace plait
