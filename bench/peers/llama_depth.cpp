// Decode of llama.cpp at a long context without computing that context: a part of it is computed once, and its rows are
// copied and moved to the positions that follow. The numbers are nonsense, the time is that of real ones.
//
//   g++ -O2 -std=c++17 llama_depth.cpp -I LLAMA/include -I LLAMA/ggml/include -L LIBRARIES -lllama -lggml -lggml-base
//   ./a.out MODEL DEPTH THREADS GENERATE         prints tokens/s of ROUNDS = 3 rounds
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "llama.h"

namespace {

constexpr int kPart = 2048;  // Tokens that are computed.

bool decode(llama_context* context, const std::vector<llama_token>& tokens, int first, int sequence) {
  llama_batch batch = llama_batch_init(static_cast<int>(tokens.size()), 0, 1);
  batch.n_tokens = static_cast<int>(tokens.size());
  for (int i = 0; i < batch.n_tokens; ++i) {
    batch.token[i] = tokens[static_cast<std::size_t>(i)];
    batch.pos[i] = first + i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = sequence;
    batch.logits[i] = i + 1 == batch.n_tokens;
  }
  const bool done = llama_decode(context, batch) == 0;
  llama_batch_free(batch);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: llama_depth MODEL DEPTH THREADS GENERATE\n"), 2;
  int numbers[3] = {};  // Depth, threads, tokens to generate.
  for (int i = 0; i < 3; ++i) {
    const char* text = argv[2 + i];
    const char* end = text + std::strlen(text);
    if (std::from_chars(text, end, numbers[i]).ptr != end) return std::fprintf(stderr, "%s is no number\n", text), 2;
  }
  const auto [depth, threads, generate] = numbers;
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == nullptr) return std::fprintf(stderr, "%s cannot be loaded\n", argv[1]), 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(depth + kPart + 256);
  params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = threads;
  params.n_seq_max = 2;
  params.kv_unified = true;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) return std::fprintf(stderr, "no context of %d tokens\n", depth), 1;
  llama_memory_t memory = llama_get_memory(context);

  for (int first = 0; first < kPart; first += 512) {
    if (!decode(context, std::vector<llama_token>(512, 7 + first), first, 1)) return 1;
  }
  std::vector<std::uint8_t> part(llama_state_seq_get_size(context, 1));
  llama_state_seq_get_data(context, part.data(), part.size(), 1);
  for (int first = 0; first < depth; first += kPart) {
    llama_memory_seq_rm(memory, 1, -1, -1);
    if (llama_state_seq_set_data(context, part.data(), part.size(), 1) == 0) return 1;
    llama_memory_seq_add(memory, 1, 0, -1, first);
    llama_memory_seq_cp(memory, 1, 0, -1, -1);
  }
  llama_memory_seq_rm(memory, 1, -1, -1);
  std::fprintf(stderr, "tokens held: up to position %d\n", llama_memory_seq_pos_max(memory, 0));

  if (!decode(context, {11}, depth, 0)) return 1;  // Moves the rows to their positions.
  int at = depth + 1;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < generate; ++i) {
      if (!decode(context, {11 + i}, at++, 0)) return 1;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.3f\n", generate / seconds);
    std::fflush(stdout);
  }
}
