// Interrupt: what Ctrl-C does.
#pragma once

namespace plait {

// From now on Ctrl-C ends the program with exit status 130, wherever it is. Called once by main.
void exit_on_interrupt();

// While one lives, Ctrl-C is noted instead, and the work is expected to look. At most one at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  bool raised() const;
  void clear();
};

}  // namespace plait
