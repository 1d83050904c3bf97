// Cache: the only door to what sequences remember. One byte budget over rows and anchors, checked before it is taken.
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
#include "cache/state_cost.h"
#include "plait/result.h"

namespace plait {

struct CacheStats {
  std::size_t budget_bytes = 0;
  std::size_t used_bytes = 0;     // By what sequences and snapshots hold.
  std::size_t touched_bytes = 0;  // Used, or free with its memory still there; never more than the budget.
  int sequences = 0;
  int snapshots = 0;

  std::size_t free_bytes() const { return budget_bytes - used_bytes; }
};

// One sequence's part of a step.
struct Work {
  Sequence* sequence = nullptr;
  int count = 0;  // Tokens to compute: the next ones after those computed.
  // The row of each of them is an output; otherwise only that of the last, and only if it is the last known token.
  bool all_outputs = false;
  // Outputs are the normed hidden rows that the head would read, and no logits are computed of them.
  bool hidden = false;
  // The last `uncertain` of them are drafts: commit() may accept any number of them.
  int uncertain = 0;
};

class Cache {
 public:
  // Takes at most `budget_bytes` from the backend, and only for what is written. Fails with the least that would do if
  // not even one block fits. `layers`: one state a layer.
  static Result<std::unique_ptr<Cache>> create(Backend& backend, std::span<const StateSpec> layers,
                                               std::size_t budget_bytes);
  ~Cache();

  // A new sequence that knows these tokens; none is computed yet. Takes no memory.
  Sequence* open(std::span<const Token> tokens);
  // Takes the blocks and anchors that the work needs, and lays out the batch in the given order. On failure nothing has
  // changed; the error says how much was wanted and how much is free.
  Result<void> prepare(std::span<const Work> work, Batch& batch);
  // After the forward pass: the first `accepted` of the prepared tokens count, at least all that were certain. If those
  // are fewer than were prepared, the rows beyond are cut and the tokens after them forgotten. What no later token
  // reads is given up.
  void commit(Sequence* sequence, int accepted);
  // Another sequence that knows the first `at` tokens of this one (at most those computed). It shares whole blocks and
  // the anchor, and copies a partial block: a block that is still written to has one writer. If what `at` needs is not
  // there any more, it resumes at the latest earlier position that a snapshot of these tokens keeps, else at the
  // start: its tokens from computed() to `at` are to be computed again.
  Result<Sequence*> fork(const Sequence& sequence, int at);
  void close(Sequence* sequence);

  // Keeps the sequence's position, by reference. Every snapshot is dropped before the cache goes.
  Snapshot* snapshot(const Sequence& sequence);
  // A new sequence at the snapshot's position.
  Result<Sequence*> resume(const Snapshot& snapshot);
  void drop(Snapshot* snapshot);

  std::span<const LayerState> states() const;
  const StateCost& cost() const;
  CacheStats stats() const;
  void check_integrity() const;  // Stops on a broken count. For tests.

 private:
  Cache();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plait
