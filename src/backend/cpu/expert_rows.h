// ExpertRows: the tokens of a step sorted by the experts they chose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/ops.h"

namespace plait {

// Every choice of a token is a row; rows of one expert lie together, in the order of their tokens.
class ExpertRows {
 public:
  static std::size_t bytes(int tokens, const Routing& routing) {
    const std::size_t rows = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(routing.used);
    return rows * (3 * sizeof(int) + sizeof(float)) + static_cast<std::size_t>(2 * routing.experts + 1) * sizeof(int);
  }
  // Room for steps of so many tokens; allocates. Calls for several layers add up to the largest.
  void reserve(int tokens, const Routing& routing) {
    const std::size_t rows = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(routing.used);
    const std::size_t experts = static_cast<std::size_t>(routing.experts);
    if (chosen_.size() < rows) {
      for (std::vector<int>* room : {&chosen_, &places_, &tokens_}) room->resize(rows);
      weights_.resize(rows);
    }
    if (active_.size() < experts) active_.resize(experts);
    if (begins_.size() < experts + 1) begins_.resize(experts + 1);
  }
  bool holds(int tokens, const Routing& routing) const {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(routing.used) <= chosen_.size() &&
           static_cast<std::size_t>(routing.experts) <= active_.size();
  }

  // To be filled by route(), token by token.
  int* chosen(int token, int used) { return chosen_.data() + std::ptrdiff_t{token} * used; }
  float* weights(int token, int used) { return weights_.data() + std::ptrdiff_t{token} * used; }

  // When all tokens have chosen.
  void sort(int tokens, const Routing& routing) {
    const int rows = tokens * routing.used;
    std::fill_n(begins_.begin(), routing.experts + 1, 0);
    for (int i = 0; i < rows; ++i) ++begins_[at(chosen_[at(i)]) + 1];
    active_count_ = 0;
    for (int expert = 0; expert < routing.experts; ++expert) {
      if (begins_[at(expert) + 1] > 0) active_[at(active_count_++)] = expert;
      begins_[at(expert) + 1] += begins_[at(expert)];
    }
    for (int i = 0; i < rows; ++i) {
      const int place = begins_[at(chosen_[at(i)])]++;
      places_[at(i)] = place;
      tokens_[at(place)] = i / routing.used;
    }
    // Each begin has become the next one's.
    for (int expert = routing.experts; expert > 0; --expert) begins_[at(expert)] = begins_[at(expert) - 1];
    begins_[0] = 0;
  }

  int active_count() const { return active_count_; }
  int active(int i) const { return active_[at(i)]; }  // Experts that some token chose, ascending.
  int begin(int expert) const { return begins_[at(expert)]; }
  int count(int expert) const { return begins_[at(expert) + 1] - begins_[at(expert)]; }
  const int* tokens(int expert) const { return tokens_.data() + begin(expert); }  // The token of each row.
  // The rows of one token, best first.
  const int* places(int token, int used) const { return places_.data() + std::ptrdiff_t{token} * used; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::vector<int> chosen_, places_, tokens_;  // [tokens * used]
  std::vector<float> weights_;                 // [tokens * used]
  std::vector<int> begins_;                    // [experts + 1]
  std::vector<int> active_;
  int active_count_ = 0;
};

}  // namespace plait
