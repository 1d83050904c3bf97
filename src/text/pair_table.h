// PairTable: a hash table from a pair of symbols to its merge. Flat, because a vocabulary has some hundred thousand
// merges.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace plait {

class PairTable {
 public:
  struct Value {
    std::int32_t rank = 0;
    std::int32_t id = -1;  // Of the joined symbol.
  };

  void reserve(std::size_t pairs) {
    slots_.assign(std::bit_ceil(pairs * 2 + 2), {});
    shift_ = 64 - std::countr_zero(slots_.size());
  }

  // At most as many as were reserved. The first value of a pair stays. Symbols must not be negative.
  void insert(std::int32_t left, std::int32_t right, Value value) {
    std::size_t at = place(key(left, right));
    for (; slots_[at].value.id >= 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key == key(left, right)) return;
    }
    slots_[at] = {key(left, right), value};
  }

  // Null: the pair does not merge.
  const Value* find(std::int32_t left, std::int32_t right) const {
    std::size_t at = place(key(left, right));
    for (; slots_[at].value.id >= 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key == key(left, right)) return &slots_[at].value;
    }
    return nullptr;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value;
  };
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
  }
  std::size_t place(std::uint64_t k) const {
    k ^= k >> 29;
    return static_cast<std::size_t>((k * 0x9E3779B97F4A7C15ull) >> shift_);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(2);  // A power of two, never full.
  int shift_ = 63;
};

}  // namespace plait
