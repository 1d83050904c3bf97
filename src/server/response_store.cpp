// ResponseStore: a list in order of use, and an index.
#include "server/response_store.h"

#include <iterator>
#include <utility>

namespace plait {
namespace {

constexpr std::size_t kEntryBytes = 512;  // About what the list, the index and the allocator add.

std::size_t size_of(const KeptResponse& response) {
  return response.id.size() + response.body.size() + response.messages.size() + kEntryBytes;
}

}  // namespace

void ResponseStore::put(KeptResponse response) {
  const std::size_t size = size_of(response);
  const std::lock_guard lock(mutex_);
  if (size > most_bytes_) return;
  if (const auto found = by_id_.find(response.id); found != by_id_.end()) drop(found->second);
  while (bytes_ + size > most_bytes_) drop(std::prev(entries_.end()));
  entries_.push_front(std::move(response));
  by_id_.emplace(entries_.front().id, entries_.begin());
  bytes_ += size;
}

std::optional<KeptResponse> ResponseStore::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return *found->second;
}

bool ResponseStore::erase(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  drop(found->second);
  return true;
}

void ResponseStore::drop(Entries::iterator entry) {
  bytes_ -= size_of(*entry);
  by_id_.erase(entry->id);
  entries_.erase(entry);
}

}  // namespace plait
