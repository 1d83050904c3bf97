// Stream: the reader's side of a channel.
#include "engine/channel.h"

namespace plait {
namespace {

// Sees what was read: the last event, or that a waiting engine may go on.
std::optional<Event> seen(Channel& channel, std::optional<Event> event) {
  if (!event) return event;
  if (event->kind == Event::Kind::kFinish) channel.finished = true;
  if (channel.events.room() <= kEventsOfStep) channel.wake_engine();
  return event;
}

void leave(Channel* channel) {
  if (channel == nullptr) return;
  // From `abandoned` on the channel may be gone.
  const std::function<void()> wake_engine = channel->wake_engine;
  std::atomic<int>& open_streams = channel->open_streams;
  channel->abandoned.store(true);
  wake_engine();
  open_streams.fetch_sub(1);
}

}  // namespace

Stream::Stream(Stream&& other) noexcept : channel_(std::exchange(other.channel_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    leave(channel_);
    channel_ = std::exchange(other.channel_, nullptr);
  }
  return *this;
}

Stream::~Stream() { leave(channel_); }

bool Stream::finished() const { return channel_ == nullptr || channel_->finished; }

std::optional<Event> Stream::next() {
  if (finished()) return std::nullopt;
  return seen(*channel_, channel_->events.pop());
}

std::optional<Event> Stream::next_within(int milliseconds) {
  if (finished()) return std::nullopt;
  return seen(*channel_, channel_->events.pop_within(std::chrono::milliseconds(milliseconds)));
}

void Stream::cancel() {
  if (channel_ == nullptr) return;
  channel_->cancelled.store(true);
  channel_->wake_engine();
}

std::string_view name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancel:
      return "cancel";
    case FinishReason::kError:
      return "error";
  }
  return "error";
}

}  // namespace plait
