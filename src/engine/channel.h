// Channel: what joins a Stream to its engine. The stepping thread owns it; the stream's side ends with `abandoned`.
#pragma once

#include <atomic>
#include <functional>

#include "engine/queue.h"
#include "plait/engine.h"

namespace plait {

struct Channel {
  Channel(int capacity, std::function<void()> on_event, std::function<void()> waker, std::atomic<int>& open)
      : events(static_cast<std::size_t>(capacity), std::move(on_event)),
        wake_engine(std::move(waker)),
        open_streams(open) {}

  BoundedQueue<Event> events;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> abandoned{false};  // Nobody will look at this channel again but the stepping thread.
  const std::function<void()> wake_engine;
  std::atomic<int>& open_streams;
  bool finished = false;  // The reader's: it has seen the last event.
};

// Free places that a step of a sequence needs: the end of its prompt, and a token.
constexpr std::size_t kEventsOfStep = 2;

}  // namespace plait
