// check(): stops the program on a broken invariant of our own. Never for input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace plait {

// Prints the place and the reason to standard error and aborts when `condition` is false.
inline void check(bool condition, const char* why, std::source_location where = std::source_location::current()) {
  if (condition) [[likely]]
    return;
  std::fprintf(stderr, "plait: internal error at %s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()),
               why);
  std::abort();
}

}  // namespace plait
