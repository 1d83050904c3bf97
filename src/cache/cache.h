// Cache: the only door to what sequences remember. One byte budget over all of it, checked before it is taken.
//
// The order of calls: open, then any number of (prepare, a forward pass over the batch, commit), then close.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/batch.h"
#include "cache/sequence.h"
#include "plait/result.h"

namespace plait {

struct CacheStats {
  std::size_t budget_bytes = 0;
  std::size_t block_bytes = 0;  // Of one block number, over all streams of all layers.
  int blocks = 0;
  int free_blocks = 0;
  int sequences = 0;
};

// One sequence's part of a step.
struct Work {
  Sequence* sequence = nullptr;
  int count = 0;  // Tokens to compute: the next ones after those computed.
  // Logits of each of them; otherwise only of the last, and that only if it is the last known token.
  bool all_logits = false;
};

class Cache {
 public:
  // Takes at most `budget_bytes` from the backend, in whole blocks. Fails with the least that would do if not even one
  // block fits. `layers`: one state a layer.
  static Result<std::unique_ptr<Cache>> create(Backend& backend, std::span<const StateSpec> layers,
                                               std::size_t budget_bytes);
  ~Cache();

  // Bytes that one token of context takes over all layers, without the rounding of blocks.
  static std::size_t token_bytes(std::span<const StateSpec> layers);
  // Bytes that so many tokens of one sequence take, in whole blocks; the greatest size_t if it is more than that.
  static std::size_t context_bytes(std::span<const StateSpec> layers, int tokens);
  // The most tokens of one sequence that fit into so many bytes.
  static int tokens_that_fit(std::span<const StateSpec> layers, std::size_t bytes);

  // A new sequence that knows these tokens; none is computed yet. Takes no block.
  Sequence* open(std::span<const Token> tokens);
  // Takes the blocks that the work needs, and lays out the batch in the given order. On failure nothing has changed;
  // the error says how many blocks were wanted and how many are free.
  Result<void> prepare(std::span<const Work> work, Batch& batch);
  // After the forward pass: the first `accepted` of the prepared tokens count. If those are fewer than were prepared,
  // the rows beyond are cut and the tokens after them forgotten.
  void commit(Sequence* sequence, int accepted);
  // Another sequence with the first `at` tokens of this one (at most those computed). It shares whole blocks and copies
  // a partial one: a block that is still written to has one writer.
  Result<Sequence*> fork(const Sequence& sequence, int at);
  void close(Sequence* sequence);

  std::span<const LayerState> states() const;
  CacheStats stats() const;
  void check_integrity() const;  // Stops on a broken count. For tests.

 private:
  Cache();
  int wanted_blocks(const Work& work) const;
  void lay_out(const Work& work, Batch& batch) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plait
