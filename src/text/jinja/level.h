// One level of the machine's own nesting, which is what its C++ stack is spent on.
#pragma once

#include "text/jinja/machine.h"

namespace plait::jinja {

class Machine::Level {
 public:
  explicit Level(Machine& machine) : machine_(machine) {
    // Source and macros have limits of their own; this is for both together.
    if (++machine_.depth_ > 8 * machine_.limits_.depth) machine_.fail_limit("nested too deeply");
  }
  ~Level() { --machine_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Machine& machine_;
};

}  // namespace plait::jinja
