// for_each_isa(): a test's body over every instruction set that this machine has; the others are printed as skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "isa/select.h"

namespace plait {

template <class Body>
void for_each_isa(const Body& body) {
  for (const Isa& isa : all_isas()) {
    if (!isa.supported()) {
      std::printf("skipped: %s, which this machine lacks\n", std::string(isa.name).c_str());
      continue;
    }
    SCOPED_TRACE(std::string(isa.name));
    body(*isa.kernels);
  }
}

}  // namespace plait
