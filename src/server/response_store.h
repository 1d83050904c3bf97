// ResponseStore: answers of /v1/responses that later requests may continue, kept in memory within a budget.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace plait {

struct KeptResponse {
  std::string id;
  std::string body;      // The response object, as JSON text.
  std::string messages;  // The conversation to its end, without instructions: a JSON array for a chat template.
};

// Any thread may call. What was not used for longest is given up first.
class ResponseStore {
 public:
  explicit ResponseStore(std::size_t most_bytes = std::size_t{16} << 20) : most_bytes_(most_bytes) {}

  void put(KeptResponse response);  // One that is larger than the budget is not kept.
  std::optional<KeptResponse> find(std::string_view id);
  bool erase(std::string_view id);

 private:
  using Entries = std::list<KeptResponse>;
  void drop(Entries::iterator entry);

  const std::size_t most_bytes_;
  std::mutex mutex_;
  Entries entries_;                                                // Last used first.
  std::unordered_map<std::string_view, Entries::iterator> by_id_;  // Keys lie in the entries.
  std::size_t bytes_ = 0;
};

}  // namespace plait
