// Choosing an instruction set.
#pragma once

#include <span>
#include <string_view>

#include "kernels/kernels.h"
#include "plait/result.h"

namespace plait {

struct Isa {
  std::string_view name;
  const Kernels* kernels = nullptr;
  bool (*supported)() = nullptr;  // By this processor and operating system.
};

// All that this build has, best first; the last, "scalar", is supported everywhere.
std::span<const Isa> all_isas();

// The kernels of that name; of the best supported one if it is empty. Fails on a name that is unknown or that the
// machine lacks, naming those it has.
Result<const Kernels*> kernels_for(std::string_view name);

}  // namespace plait
