// ThreadPlan: cores dealt out to workers.
#include "base/thread_plan.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace plait {
namespace {

// A worker beyond the quota would be stopped for a part of every period, with all others waiting: rounded down.
int most_by_quota(double quota) {
  if (quota <= 0 || quota >= kMaxThreads) return kMaxThreads;
  return std::max(1, static_cast<int>(quota + 1e-6));
}

using CoresByNode = std::map<int, std::vector<int>>;

// How many workers each node gets: one after the other, in turn, as long as cores are left.
std::map<int, std::size_t> deal(const CoresByNode& cores, std::size_t threads) {
  std::map<int, std::size_t> out;
  while (threads > 0) {
    for (const auto& [node, list] : cores) {
      if (threads == 0 || out[node] == list.size()) continue;
      ++out[node];
      --threads;
    }
  }
  return out;
}

}  // namespace

ThreadPlan plan_threads(const Topology& topology, const ThreadRequest& request) {
  const auto all = static_cast<int>(topology.cores.size());
  const auto fast = static_cast<int>(
      std::count_if(topology.cores.begin(), topology.cores.end(), [](const CpuCore& core) { return core.fast; }));
  ThreadPlan plan;
  plan.threads =
      request.threads > 0 ? request.threads : std::max(1, std::min({fast, most_by_quota(topology.quota), kMaxThreads}));
  if (!request.pin || plan.threads > all) return plan;

  const bool only_fast = plan.threads <= fast;
  CoresByNode cores;
  for (const CpuCore& core : topology.cores) {
    if (core.fast || !only_fast) cores[core.node].push_back(core.processor);
  }
  for (auto& [node, list] : cores) std::sort(list.begin(), list.end());
  const bool each_its_own = plan.threads == (only_fast ? fast : all);
  for (const auto& [node, count] : deal(cores, static_cast<std::size_t>(plan.threads))) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<int>& list = cores[node];
      plan.places.push_back({node, each_its_own ? std::vector<int>{list[i]} : list});
    }
    if (count > 0 && plan.places.front().node != node) ++plan.nodes;
  }
  return plan;
}

std::string plan_text(const ThreadPlan& plan) {
  const char* plural = plan.threads == 1 ? "" : "s";
  if (plan.places.empty()) return fmt::format("{} thread{}, free to run anywhere", plan.threads, plural);
  std::string text = fmt::format("{} thread{}, pinned to ", plan.threads, plural);
  std::vector<int> processors;
  for (const Place& place : plan.places)
    processors.insert(processors.end(), place.processors.begin(), place.processors.end());
  std::sort(processors.begin(), processors.end());
  processors.erase(std::unique(processors.begin(), processors.end()), processors.end());
  const bool shared = static_cast<int>(processors.size()) > plan.threads;
  text += fmt::format("{}core{} {}", shared ? "any of " : "", processors.size() == 1 ? "" : "s",
                      processors_text(processors));
  if (plan.nodes == 1) return text;
  std::map<int, int> workers;
  for (const Place& place : plan.places) ++workers[place.node];
  text += fmt::format("; {} memory nodes, each weight cut among them:", plan.nodes);
  int first = 0;
  for (const auto& [node, count] : workers) {
    text += fmt::format("{} workers {}-{} and their rows on node {}", first == 0 ? "" : ",", first, first + count - 1,
                        node);
    first += count;
  }
  return text;
}

bool keep_thread(int thread, std::span<const int> processors) {
  if (processors.empty()) return false;
  const int count = std::max(*std::max_element(processors.begin(), processors.end()) + 1, CPU_SETSIZE);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(count), [](cpu_set_t* s) { CPU_FREE(s); });
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set.get());
  for (const int processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), bytes, set.get());
  return ::sched_setaffinity(thread, bytes, set.get()) == 0;
}

KeptThread::KeptThread(std::span<const int> processors) {
  std::vector<int> before = allowed_processors();
  if (!keep_thread(0, processors)) return;
  thread_ = ::gettid();
  before_ = std::move(before);
}

KeptThread::~KeptThread() {
  if (thread_ != 0) keep_thread(thread_, before_);
}

KeptThread::KeptThread(KeptThread&& other) noexcept
    : thread_(std::exchange(other.thread_, 0)), before_(std::move(other.before_)) {}

KeptThread& KeptThread::operator=(KeptThread&& other) noexcept {
  std::swap(thread_, other.thread_);
  std::swap(before_, other.before_);
  return *this;
}

}  // namespace plait
