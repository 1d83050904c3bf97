// ThreadPlan: how many threads compute, and on which cores each of them may run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/topology.h"

namespace plait {

// Where a worker may run.
struct Place {
  int node = 0;
  std::vector<int> processors;  // Ascending.
};

struct ThreadPlan {
  int threads = 1;
  std::vector<Place> places{};  // One a worker, those of one node together. Empty: they run where the system puts them.
  int nodes = 1;                // Memory nodes of the places.
};

constexpr int kMaxThreads = 256;

struct ThreadRequest {
  int threads = 0;  // 0: one on each fast core, as far as the quota goes.
  bool pin = true;
};

// A pure function. Workers get places only where there is a core for each. Where they take all fast cores, or all
// cores, worker i keeps to one core. Where they are fewer, each may use every core of its node that is in question: two
// programs with half of the cores each would else meet on the same ones. Nodes get equal numbers of workers.
ThreadPlan plan_threads(const Topology& topology, const ThreadRequest& request);

// "4 threads, pinned to cores 0,2,4,6"; "4 threads, free to run anywhere".
std::string plan_text(const ThreadPlan& plan);

// While it lives, the thread that made it keeps to some processors; afterwards it has those that it had before. Where
// the system refuses, nothing happens. Goes before its thread ends.
class KeptThread {
 public:
  KeptThread() = default;  // Keeps nothing.
  explicit KeptThread(std::span<const int> processors);
  ~KeptThread();
  KeptThread(KeptThread&& other) noexcept;
  KeptThread& operator=(KeptThread&& other) noexcept;

 private:
  int thread_ = 0;  // Of the system; 0: none.
  std::vector<int> before_;
};

// Restricts a thread, by the system's number; 0: the calling one. False where the system refuses.
bool keep_thread(int thread, std::span<const int> processors);

}  // namespace plait
