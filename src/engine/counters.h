// Counters: what EngineStats says. The stepping thread writes, any thread reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plait/engine.h"

namespace plait {

// Each number is right by itself; several of them may be of two moments.
struct Counters {
  std::atomic<int> running{0};
  std::atomic<int> paused{0};
  std::atomic<std::size_t> cache_used_bytes{0};
  std::atomic<std::uint64_t> prompt_tokens{0}, reused_tokens{0}, computed_tokens{0}, recomputed_tokens{0},
      generated_tokens{0}, steps{0}, pauses{0};

  EngineStats read(int not_begun, std::size_t cache_bytes) const {
    EngineStats stats;
    stats.running = running.load(std::memory_order_relaxed);
    stats.waiting = not_begun + paused.load(std::memory_order_relaxed);
    stats.cache_bytes = cache_bytes;
    stats.cache_used_bytes = cache_used_bytes.load(std::memory_order_relaxed);
    stats.prompt_tokens = prompt_tokens.load(std::memory_order_relaxed);
    stats.reused_tokens = reused_tokens.load(std::memory_order_relaxed);
    stats.computed_tokens = computed_tokens.load(std::memory_order_relaxed);
    stats.recomputed_tokens = recomputed_tokens.load(std::memory_order_relaxed);
    stats.generated_tokens = generated_tokens.load(std::memory_order_relaxed);
    stats.steps = steps.load(std::memory_order_relaxed);
    stats.pauses = pauses.load(std::memory_order_relaxed);
    return stats;
  }
};

}  // namespace plait
