// How much memory this process may still take.
#pragma once

#include <cstddef>

namespace plait {

// Bytes: the least of what the system calls available and what the control group's limit leaves. The largest size_t
// where neither can be read.
std::size_t available_memory();

}  // namespace plait
