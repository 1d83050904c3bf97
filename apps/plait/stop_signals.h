// StopSignals: what Ctrl-C and a polite kill do to a server.
#pragma once

#include <functional>
#include <thread>

namespace plait {

// While one lives, SIGINT and SIGTERM call `stop` on a thread of its own, once for each signal. At most one at a time.
class StopSignals {
 public:
  explicit StopSignals(std::function<void()> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::thread thread_;
};

}  // namespace plait
