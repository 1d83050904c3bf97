// BlockPool: blocks by number, with reference counts. It owns no memory, so its tests use integers only.
#pragma once

#include <vector>

namespace plait {

// A block is free (no references) or held (one or more). Free blocks stand in a list, the one freed longest ago first,
// so that what a block held stays there as long as possible; finding it again (publish, find) will be added here: it is
// why a free block can leave the middle of the list.
class BlockPool {
 public:
  explicit BlockPool(int blocks);

  int total() const { return static_cast<int>(blocks_.size()); }
  int free() const { return free_; }
  int used() const { return total() - free_; }
  int references(int block) const;

  int take();               // The block that has been free longest, now with one reference. There must be one.
  void share(int block);    // One reference more to a held block.
  void release(int block);  // One reference less; at none the block is free.
  void check_integrity() const;

 private:
  struct Block {
    int references = 0;
    int previous = -1;  // Among the free; -1: none.
    int next = -1;
  };
  Block& at(int block);
  void append_free(int block);
  void remove_free(int block);

  std::vector<Block> blocks_;
  int first_free_ = -1;
  int last_free_ = -1;
  int free_ = 0;
};

}  // namespace plait
