// Cache: sequences and snapshots over the numbered blocks and slots.
#include "cache/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cache/cache_state.h"

namespace plait {
namespace {

constexpr int kMostNumbers = std::numeric_limits<int>::max() / kBlockTokens;  // So that positions are ints.

int numbers_in(std::size_t budget_bytes, std::size_t bytes) {
  return bytes == 0 ? 0 : static_cast<int>(std::min(budget_bytes / bytes, static_cast<std::size_t>(kMostNumbers)));
}

// How many bytes, in the largest unit that leaves at least ten of it.
std::string readable(std::size_t bytes) {
  constexpr std::size_t kKib = 1024, kMib = kKib * 1024, kGib = kMib * 1024;
  const auto number = static_cast<double>(bytes);
  if (bytes >= 10 * kGib) return fmt::format("{:.1f} GiB", number / static_cast<double>(kGib));
  if (bytes >= 10 * kMib) return fmt::format("{:.0f} MiB", number / static_cast<double>(kMib));
  if (bytes >= 10 * kKib) return fmt::format("{:.0f} KiB", number / static_cast<double>(kKib));
  return fmt::format("{} bytes", bytes);
}

template <class T>
void remove(std::vector<std::unique_ptr<T>>& all, const T* one) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == one; });
  check(found != all.end(), "only what is open is closed");
  all.erase(found);
}

}  // namespace

Cache::Cache() = default;
Cache::~Cache() = default;

Result<std::unique_ptr<Cache>> Cache::create(Backend& backend, std::span<const StateSpec> layers,
                                             std::size_t budget_bytes) {
  StateCost cost = state_cost(layers);
  if (const std::size_t least = cost.context(kBlockTokens); least > budget_bytes)
    return fail(ErrorCode::kNoMemory, fmt::format("one block of {} tokens needs {}, the budget is {}", kBlockTokens,
                                                  readable(least), readable(budget_bytes)));
  std::vector<int> blocks;
  for (const StreamGroup& group : cost.groups) blocks.push_back(numbers_in(budget_bytes, group.block_bytes));
  const int slots = numbers_in(budget_bytes, cost.anchor_bytes);
  auto store = StateStore::create(backend, layers, blocks, slots);
  if (!store) return fail(store.error());
  std::unique_ptr<Cache> cache(new Cache);
  Units units(std::move(*store), cost, blocks, slots, budget_bytes);
  cache->state_ = std::make_unique<State>(std::move(units), std::move(cost));
  return cache;
}

Sequence* Cache::open(std::span<const Token> tokens) {
  const Result<Sequence*> opened = state_->resume(nullptr, 0, tokens);
  check(opened.has_value(), "a sequence without a past takes no memory");
  return *opened;
}

// ---------------------------------------------------------------- a step

StepSpan Cache::State::span_of(const Work& work) const {
  const Sequence& sequence = *work.sequence;
  check(work.count > 0 && work.count <= sequence.known() - sequence.computed(),
        "work is on tokens known, not computed");
  check(work.uncertain >= 0 && work.uncertain <= work.count, "drafts are among the tokens of the work");
  check(sequence.prepared() == 0, "a sequence is committed before it is prepared again, and once in a step");
  return {.computed = sequence.computed(), .count = work.count, .uncertain = work.uncertain};
}

std::size_t Cache::State::wanted(const Work& work) const {
  const int anchor = work.sequence->anchor();
  return cost.wanted(span_of(work), anchor >= 0 && !units.is_shared_slot(anchor));
}

void Cache::State::take(const Work& work) {
  Sequence& sequence = *work.sequence;
  const StepSpan step = span_of(work);
  for (int g = 0; g < units.groups(); ++g) {
    std::vector<int>& list = sequence.past_.blocks[static_cast<std::size_t>(g)];
    const int first = step.first_new_block(cost.groups[static_cast<std::size_t>(g)]);
    for (int i = static_cast<int>(list.size()); i < step.last_new_block(); ++i)
      list.push_back(i < first ? -1 : units.take_block(g));
  }
  if (has_anchors()) take_anchors(sequence, step);
  sequence.prepared_ = work.count;
  sequence.uncertain_ = work.uncertain;
}

void Cache::State::take_anchors(Sequence& sequence, const StepSpan& step) {
  const int anchor = sequence.past_.anchor;
  bool in_place = anchor >= 0 && !units.is_shared_slot(anchor) && step.outlives_anchor();
  for (int position = step.first_anchor(); position <= step.last_anchor(); position += kChunkTokens) {
    sequence.made_.push_back({position, in_place ? anchor : units.take_slot()});
    in_place = false;
  }
}

Result<void> Cache::prepare(std::span<const Work> work, Batch& batch) {
  batch.tokens.clear();
  batch.positions.clear();
  batch.segments.clear();
  batch.outputs.clear();
  std::size_t wanted = 0;
  for (const Work& w : work) {
    const std::size_t more = state_->wanted(w);
    wanted += std::min(std::numeric_limits<std::size_t>::max() - wanted, more);
  }
  if (const std::size_t free = stats().free_bytes(); wanted > free)
    return fail(ErrorCode::kNoMemory,
                fmt::format("{} of memory wanted for rows and anchors, {} free", readable(wanted), readable(free)));
  for (const Work& w : work) {
    state_->take(w);
    const Sequence& sequence = *w.sequence;
    Segment& segment = batch.segments.emplace_back();
    segment.begin = static_cast<int>(batch.tokens.size());
    segment.count = w.count;
    segment.past = sequence.computed();
    segment.blocks = sequence.past_.blocks;
    segment.anchor_in = sequence.past_.anchor;
    segment.anchors_out = sequence.made_;
    for (int i = 0; i < w.count; ++i) {
      const int position = sequence.computed() + i;
      batch.tokens.push_back(sequence.tokens_[static_cast<std::size_t>(position)]);
      batch.positions.push_back(position);
      if (w.all_outputs || position == sequence.known() - 1) batch.outputs.push_back(segment.begin + i);
    }
  }
  return {};
}

// Of the anchors made and the one before them, the sequence goes on with that of `position`'s chunk.
void Cache::State::choose_anchor(Sequence& sequence, int position) {
  Past& past = sequence.past_;
  const int base = position / kChunkTokens * kChunkTokens;
  int chosen = past.anchor;
  for (const AnchorOut& made : sequence.made_) {
    if (made.position == base) chosen = made.slot;
  }
  for (const AnchorOut& made : sequence.made_) {
    if (made.slot != chosen && made.slot != past.anchor) units.release_slot(made.slot);
  }
  if (past.anchor >= 0 && past.anchor != chosen) units.release_slot(past.anchor);
  past.anchor = chosen;
  sequence.made_.clear();
}

void Cache::commit(Sequence* sequence, int accepted) {
  check(accepted >= sequence->prepared_ - sequence->uncertain_ && accepted <= sequence->prepared_,
        "what was prepared is accepted, but for drafts");
  Past& past = sequence->past_;
  const int position = past.position + accepted;
  if (accepted < sequence->prepared_) sequence->tokens_.resize(static_cast<std::size_t>(position));
  if (state_->has_anchors()) state_->choose_anchor(*sequence, position);
  const auto keep = static_cast<std::size_t>(blocks_for(position));
  for (int g = 0; g < state_->units.groups(); ++g) {
    std::vector<int>& list = past.blocks[static_cast<std::size_t>(g)];
    for (; list.size() > keep; list.pop_back()) {
      if (list.back() >= 0) state_->units.release_block(g, list.back());
    }
    const StreamGroup& group = state_->cost.groups[static_cast<std::size_t>(g)];
    const int first = group.first_block(position);
    for (int i = std::min(first, static_cast<int>(keep)) - 1; i >= 0; --i) {
      int& block = list[static_cast<std::size_t>(i)];
      if (block >= 0) state_->units.release_block(g, block);
      const bool was_given_up = block < 0 && i < group.first_block(past.position);
      block = -1;
      if (was_given_up) break;  // Those before it were, too.
    }
  }
  past.position = position;
  sequence->prepared_ = sequence->uncertain_ = 0;
}

// ---------------------------------------------------------------- forks and snapshots

// `past` has what resuming at `at`, which is at most its position, takes.
bool Cache::State::can_resume(const Past& past, int at) const {
  if (has_anchors() && at / kChunkTokens != past.position / kChunkTokens) return false;
  for (std::size_t g = 0; g < cost.groups.size(); ++g) {
    for (int i = cost.groups[g].first_block(at); i < blocks_for(at); ++i) {
      if (past.blocks[g][static_cast<std::size_t>(i)] < 0) return false;
    }
  }
  return true;
}

// The past from which a fork at `at` resumes, at `position`; null: from the start.
const Past* Cache::State::resumable(const Sequence& sequence, int at, int& position) const {
  position = at;
  if (can_resume(sequence.past_, at)) return &sequence.past_;
  const Past* best = nullptr;
  position = 0;
  const std::span<const Token> tokens = sequence.tokens().first(static_cast<std::size_t>(at));
  for (const auto& snapshot : snapshots) {
    const int reach = std::min(at, snapshot->position());
    if (reach <= position || !can_resume(snapshot->past_, reach)) continue;
    const auto end = tokens.begin() + reach;
    if (!std::equal(tokens.begin(), end, snapshot->tokens_.begin())) continue;
    best = &snapshot->past_;
    position = reach;
  }
  return best;
}

Result<Sequence*> Cache::State::resume(const Past* past, int position, std::span<const Token> tokens) {
  auto sequence = std::make_unique<Sequence>();
  sequence->tokens_.assign(tokens.begin(), tokens.end());
  sequence->past_.blocks.resize(cost.groups.size());
  if (past == nullptr) return sequences.emplace_back(std::move(sequence)).get();
  Past& copy = sequence->past_;
  const auto whole = static_cast<std::size_t>(position / kBlockTokens);
  const bool partial = position % kBlockTokens != 0;
  std::size_t wanted = 0;
  for (const StreamGroup& group : cost.groups) wanted += partial ? group.block_bytes : 0;
  if (const std::size_t free = units.budget_bytes() - units.used_bytes(); wanted > free)
    return fail(ErrorCode::kNoMemory, fmt::format("{} of memory wanted for the copy of a partial block, {} free",
                                                  readable(wanted), readable(free)));
  copy.position = position;
  copy.anchor = past->anchor;
  for (std::size_t g = 0; g < cost.groups.size(); ++g) {
    const std::vector<int>& from = past->blocks[g];
    copy.blocks[g].assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(whole));
    for (int i = 0; i < cost.groups[g].first_block(position); ++i) {
      if (i < static_cast<int>(whole)) copy.blocks[g][static_cast<std::size_t>(i)] = -1;
    }
  }
  units.share(copy);
  for (std::size_t g = 0; partial && g < cost.groups.size(); ++g) {
    copy.blocks[g].push_back(units.take_block(static_cast<int>(g)));
    units.store().copy_block(static_cast<int>(g), past->blocks[g][whole], copy.blocks[g][whole]);
  }
  return sequences.emplace_back(std::move(sequence)).get();
}

Result<Sequence*> Cache::fork(const Sequence& sequence, int at) {
  check(at >= 0 && at <= sequence.computed(), "a sequence is forked at a computed token");
  int position = 0;
  const Past* past = state_->resumable(sequence, at, position);
  return state_->resume(past, position, sequence.tokens().first(static_cast<std::size_t>(at)));
}

Snapshot* Cache::snapshot(const Sequence& sequence) {
  check(sequence.prepared() == 0, "a snapshot is taken between steps");
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->tokens_.assign(sequence.tokens_.begin(), sequence.tokens_.begin() + sequence.computed());
  snapshot->past_ = sequence.past_;
  state_->units.share(snapshot->past_);
  return state_->snapshots.emplace_back(std::move(snapshot)).get();
}

Result<Sequence*> Cache::resume(const Snapshot& snapshot) {
  return state_->resume(&snapshot.past_, snapshot.position(), snapshot.tokens());
}

void Cache::drop(Snapshot* snapshot) {
  state_->units.release(snapshot->past_);
  remove(state_->snapshots, snapshot);
}

void Cache::close(Sequence* sequence) {
  for (const AnchorOut& made : sequence->made_) {
    if (made.slot != sequence->past_.anchor) state_->units.release_slot(made.slot);
  }
  state_->units.release(sequence->past_);
  remove(state_->sequences, sequence);
}

// ---------------------------------------------------------------- what there is

std::span<const LayerState> Cache::states() const { return state_->units.store().states(); }

const StateCost& Cache::cost() const { return state_->cost; }

CacheStats Cache::stats() const {
  return {.budget_bytes = state_->units.budget_bytes(),
          .used_bytes = state_->units.used_bytes(),
          .touched_bytes = state_->units.touched_bytes(),
          .sequences = static_cast<int>(state_->sequences.size()),
          .snapshots = static_cast<int>(state_->snapshots.size())};
}

}  // namespace plait
