// BlockPool: numbers with reference counts. A number stands for a block of rows or for an anchor's slot; the pool owns
// no memory, so its tests use integers only.
#pragma once

#include <vector>

namespace plait {

// A number is free (no references) or held (one or more). A free one is warm if it was held before: then its memory may
// be there. Warm numbers are taken first, the last freed foremost; so no more memory is touched than was ever held at
// once.
class BlockPool {
 public:
  explicit BlockPool(int total);

  int total() const { return total_; }
  int free() const { return total_ - used_; }
  int used() const { return used_; }
  int warm() const { return static_cast<int>(warm_.size()); }
  int touched() const { return used_ + warm(); }  // Numbers whose memory may be there.
  int references(int block) const;

  int take();               // There must be a free one; it has one reference now.
  void share(int block);    // One reference more to a held one.
  void release(int block);  // One reference less; at none it is free.
  int cool();               // Makes the warm number that was freed longest ago a cold one: its memory is given back.
  void check_integrity() const;

 private:
  int total_;
  int used_ = 0;
  std::vector<int> references_;  // Of the numbers that were ever taken.
  std::vector<int> warm_;        // In the order of being freed.
  std::vector<int> cooled_;
};

}  // namespace plait
