// Counts what the process takes from the heap through operator new, on all threads.
#pragma once

#include <cstdint>

namespace plait::test {

// Calls of operator new so far. A program that asks has its operator new replaced by one that counts.
std::uint64_t allocations();

}  // namespace plait::test
