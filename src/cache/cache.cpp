// Cache: sequences over one block pool for each group of row streams, and the store behind them.
#include "cache/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cache/block_pool.h"
#include "cache/state_store.h"

namespace plait {
namespace {

constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max();
constexpr int kMostBlocks = std::numeric_limits<int>::max() / kBlockTokens;  // So that positions are ints.

// How many bytes, in the largest unit that leaves at least one of it.
std::string readable(std::size_t bytes) {
  constexpr std::size_t kKib = 1024, kMib = kKib * 1024, kGib = kMib * 1024;
  const auto number = static_cast<double>(bytes);
  if (bytes >= 10 * kGib) return fmt::format("{:.1f} GiB", number / static_cast<double>(kGib));
  if (bytes >= 10 * kMib) return fmt::format("{:.0f} MiB", number / static_cast<double>(kMib));
  if (bytes >= 10 * kKib) return fmt::format("{:.0f} KiB", number / static_cast<double>(kKib));
  return fmt::format("{} bytes", bytes);
}

}  // namespace

struct Cache::State {
  explicit State(StateStore taken) : store(std::move(taken)) {}

  StateStore store;
  std::vector<BlockPool> pools;  // One a group. They move in step: every sequence has as many blocks in each.
  std::vector<std::unique_ptr<Sequence>> sequences;
  std::size_t budget_bytes = 0;
  std::size_t block_bytes = 0;
  int blocks = 0;

  int free_blocks() const {
    int free = blocks;
    for (const BlockPool& pool : pools) free = std::min(free, pool.free());
    return free;
  }
};

Cache::Cache() = default;
Cache::~Cache() = default;

Result<std::unique_ptr<Cache>> Cache::create(Backend& backend, std::span<const StateSpec> layers,
                                             std::size_t budget_bytes) {
  StateLayout layout = layout_states(layers);
  const std::size_t block_bytes = layout.block_bytes;
  if (block_bytes > budget_bytes)
    return fail(ErrorCode::kNoMemory, fmt::format("one block of {} tokens needs {}, the budget is {}", kBlockTokens,
                                                  readable(block_bytes), readable(budget_bytes)));
  // A model without rows needs no blocks.
  const std::size_t fit = block_bytes == 0 ? 0 : budget_bytes / block_bytes;
  const int blocks = static_cast<int>(std::min(fit, static_cast<std::size_t>(kMostBlocks)));
  auto store = StateStore::create(backend, std::move(layout), blocks);
  if (!store) return fail(store.error());

  std::unique_ptr<Cache> cache(new Cache);
  cache->state_ = std::make_unique<State>(std::move(*store));
  State& state = *cache->state_;
  for (int group = 0; group < state.store.groups(); ++group) state.pools.emplace_back(blocks);
  state.budget_bytes = budget_bytes;
  state.block_bytes = block_bytes;
  state.blocks = blocks;
  return cache;
}

std::size_t Cache::token_bytes(std::span<const StateSpec> layers) {
  std::size_t sum = 0;
  for (const StateSpec& layer : layers) {
    for (const RowSpec& rows : layer.rows) sum += std::min(kMostBytes - sum, static_cast<std::size_t>(rows.bytes));
  }
  return sum;
}

std::size_t Cache::context_bytes(std::span<const StateSpec> layers, int tokens) {
  const std::size_t block_bytes = layout_states(layers).block_bytes;
  const auto blocks = static_cast<std::size_t>(blocks_for(tokens));
  if (block_bytes != 0 && blocks > kMostBytes / block_bytes) return kMostBytes;
  return blocks * block_bytes;
}

int Cache::tokens_that_fit(std::span<const StateSpec> layers, std::size_t bytes) {
  const std::size_t block_bytes = layout_states(layers).block_bytes;
  const auto most = static_cast<std::size_t>(kMostBlocks);
  const std::size_t blocks = block_bytes == 0 ? most : std::min(bytes / block_bytes, most);
  return static_cast<int>(blocks) * kBlockTokens;
}

Sequence* Cache::open(std::span<const Token> tokens) {
  auto sequence = std::make_unique<Sequence>();
  sequence->tokens_.assign(tokens.begin(), tokens.end());
  sequence->blocks_.resize(state_->pools.size());
  return state_->sequences.emplace_back(std::move(sequence)).get();
}

int Cache::wanted_blocks(const Work& work) const {
  const Sequence& sequence = *work.sequence;
  check(work.count > 0 && work.count <= sequence.known() - sequence.computed(),
        "work is on tokens known, not computed");
  check(sequence.prepared() == 0, "a sequence is committed before it is prepared again, and once in a step");
  return blocks_for(sequence.computed() + work.count) - blocks_for(sequence.computed());
}

Result<void> Cache::prepare(std::span<const Work> work, Batch& batch) {
  batch.tokens.clear();
  batch.positions.clear();
  batch.segments.clear();
  batch.outputs.clear();
  if (!state_->pools.empty()) {
    std::int64_t wanted = 0;
    for (const Work& w : work) wanted += wanted_blocks(w);
    if (wanted > state_->free_blocks())
      return fail(ErrorCode::kNoMemory, fmt::format("{} blocks wanted, {} free", wanted, state_->free_blocks()));
  }
  for (const Work& w : work) {
    const auto blocks = static_cast<std::size_t>(blocks_for(w.sequence->computed() + w.count));
    for (std::size_t group = 0; group < state_->pools.size(); ++group) {
      std::vector<int>& list = w.sequence->blocks_[group];
      while (list.size() < blocks) list.push_back(state_->pools[group].take());
    }
    lay_out(w, batch);
    w.sequence->prepared_ = w.count;
  }
  return {};
}

void Cache::lay_out(const Work& work, Batch& batch) const {
  const Sequence& sequence = *work.sequence;
  check(work.count > 0 && work.count <= sequence.known() - sequence.computed() && sequence.prepared() == 0,
        "work is on tokens known, not computed, once in a step");
  Segment& segment = batch.segments.emplace_back();
  segment.begin = static_cast<int>(batch.tokens.size());
  segment.count = work.count;
  segment.past = sequence.computed();
  segment.blocks = sequence.blocks_;
  for (int i = 0; i < work.count; ++i) {
    const int position = sequence.computed() + i;
    batch.tokens.push_back(sequence.tokens_[static_cast<std::size_t>(position)]);
    batch.positions.push_back(position);
    if (work.all_logits || position == sequence.known() - 1) batch.outputs.push_back(segment.begin + i);
  }
}

void Cache::commit(Sequence* sequence, int accepted) {
  check(accepted >= 0 && accepted <= sequence->prepared_, "at most what was prepared is accepted");
  const bool cut = accepted < sequence->prepared_;
  sequence->computed_ += accepted;
  sequence->prepared_ = 0;
  if (!cut) return;
  sequence->tokens_.resize(static_cast<std::size_t>(sequence->computed_));
  const auto keep = static_cast<std::size_t>(blocks_for(sequence->computed_));
  for (std::size_t group = 0; group < state_->pools.size(); ++group) {
    std::vector<int>& list = sequence->blocks_[group];
    for (; list.size() > keep; list.pop_back()) state_->pools[group].release(list.back());
  }
}

Result<Sequence*> Cache::fork(const Sequence& sequence, int at) {
  check(at >= 0 && at <= sequence.computed(), "a sequence is forked at a computed token");
  const bool partial = at % kBlockTokens != 0;
  if (!state_->pools.empty() && partial && state_->free_blocks() < 1)
    return fail(ErrorCode::kNoMemory, "1 block wanted for the copy of a partial one, 0 free");
  Sequence* copy = open(sequence.tokens().first(static_cast<std::size_t>(at)));
  copy->computed_ = at;
  const auto whole = static_cast<std::size_t>(at / kBlockTokens);
  for (std::size_t group = 0; group < state_->pools.size(); ++group) {
    BlockPool& pool = state_->pools[group];
    const std::vector<int>& from = sequence.blocks_[group];
    std::vector<int>& to = copy->blocks_[group];
    for (std::size_t i = 0; i < whole; ++i) {
      pool.share(from[i]);
      to.push_back(from[i]);
    }
    if (!partial) continue;
    to.push_back(pool.take());
    state_->store.copy_block(static_cast<int>(group), from[whole], to[whole]);
  }
  return copy;
}

void Cache::close(Sequence* sequence) {
  auto& all = state_->sequences;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.get() == sequence; });
  check(found != all.end(), "only an open sequence is closed");
  // The end is freed first, and so taken again first: beginnings are what others may share.
  for (std::size_t group = 0; group < state_->pools.size(); ++group) {
    const std::vector<int>& list = sequence->blocks_[group];
    for (std::size_t i = list.size(); i-- > 0;) state_->pools[group].release(list[i]);
  }
  all.erase(found);
}

std::span<const LayerState> Cache::states() const { return state_->store.states(); }

CacheStats Cache::stats() const {
  return {.budget_bytes = state_->budget_bytes,
          .block_bytes = state_->block_bytes,
          .blocks = state_->blocks,
          .free_blocks = state_->free_blocks(),
          .sequences = static_cast<int>(state_->sequences.size())};
}

void Cache::check_integrity() const {
  for (std::size_t group = 0; group < state_->pools.size(); ++group) {
    const BlockPool& pool = state_->pools[group];
    pool.check_integrity();
    check(pool.total() == state_->blocks, "every group has all blocks");
    check(pool.used() + pool.free() == pool.total(), "used and free blocks are all blocks");
    std::vector<int> references(static_cast<std::size_t>(pool.total()), 0);
    std::vector<int> writers(references);
    for (const auto& sequence : state_->sequences) {
      const auto& list = sequence->blocks_[group];
      const int rows = sequence->computed() + sequence->prepared();
      check(rows <= sequence->known(), "no more is computed than is known");
      check(static_cast<int>(list.size()) == blocks_for(rows), "a sequence has the blocks of its rows, no more");
      for (const int block : list) ++references[static_cast<std::size_t>(block)];
      // The block that the next row goes to, and those of the step under way.
      for (auto i = static_cast<std::size_t>(sequence->computed() / kBlockTokens); i < list.size(); ++i)
        ++writers[static_cast<std::size_t>(list[i])];
    }
    for (int block = 0; block < pool.total(); ++block) {
      check(references[static_cast<std::size_t>(block)] == pool.references(block), "references are counted right");
      check(writers[static_cast<std::size_t>(block)] <= 1, "a block that is written to has one writer");
    }
  }
}

}  // namespace plait
