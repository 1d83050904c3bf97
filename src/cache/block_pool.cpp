// BlockPool: an array of counts and a doubly linked list of the free, by index.
#include "cache/block_pool.h"

#include "base/check.h"

namespace plait {

BlockPool::BlockPool(int blocks) {
  check(blocks >= 0, "a pool has no negative number of blocks");
  blocks_.resize(static_cast<std::size_t>(blocks));
  for (int block = 0; block < blocks; ++block) append_free(block);
}

BlockPool::Block& BlockPool::at(int block) {
  check(block >= 0 && block < total(), "a block number lies in its pool");
  return blocks_[static_cast<std::size_t>(block)];
}

int BlockPool::references(int block) const {
  check(block >= 0 && block < total(), "a block number lies in its pool");
  return blocks_[static_cast<std::size_t>(block)].references;
}

void BlockPool::append_free(int block) {
  Block& b = at(block);
  b.previous = last_free_;
  b.next = -1;
  if (last_free_ >= 0) {
    at(last_free_).next = block;
  } else {
    first_free_ = block;
  }
  last_free_ = block;
  ++free_;
}

void BlockPool::remove_free(int block) {
  Block& b = at(block);
  if (b.previous >= 0) {
    at(b.previous).next = b.next;
  } else {
    first_free_ = b.next;
  }
  if (b.next >= 0) {
    at(b.next).previous = b.previous;
  } else {
    last_free_ = b.previous;
  }
  b.previous = b.next = -1;
  --free_;
}

int BlockPool::take() {
  check(free_ > 0, "a block is taken only when one is free");
  const int block = first_free_;
  remove_free(block);
  at(block).references = 1;
  return block;
}

void BlockPool::share(int block) {
  Block& b = at(block);
  check(b.references > 0, "a free block cannot be shared");
  ++b.references;
}

void BlockPool::release(int block) {
  Block& b = at(block);
  check(b.references > 0, "a free block cannot be released");
  if (--b.references == 0) append_free(block);
}

void BlockPool::check_integrity() const {
  int listed = 0, previous = -1;
  for (int block = first_free_; block >= 0; block = blocks_[static_cast<std::size_t>(block)].next) {
    const Block& b = blocks_[static_cast<std::size_t>(block)];
    check(b.references == 0, "a block in the free list has no references");
    check(b.previous == previous, "the free list is linked both ways");
    check(++listed <= total(), "the free list has no cycle");
    previous = block;
  }
  check(previous == last_free_, "the free list ends at its last block");
  check(listed == free_, "the free list has as many blocks as are counted");
  int held = 0;
  for (const Block& b : blocks_) {
    check(b.references >= 0, "no block has negative references");
    if (b.references > 0) ++held;
  }
  check(held + free_ == total(), "used and free blocks are all blocks");
}

}  // namespace plait
