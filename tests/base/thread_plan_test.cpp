// ThreadPlan: how many threads, and where, on machines of every kind.
#include "base/thread_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"

namespace plait {
namespace {

// `fast` and `slow` cores a node, numbered through.
Topology machine(int nodes, int fast, int slow = 0, double quota = 0) {
  Topology topology;
  topology.quota = quota;
  int processor = 0;
  for (int node = 0; node < nodes; ++node) {
    for (int i = 0; i < fast + slow; ++i)
      topology.cores.push_back({.processor = processor++, .node = node, .fast = i < fast});
  }
  return topology;
}

// "0 | 1 | 2-3@1": where each worker may run, and its node where that is not 0.
std::string places_of(const ThreadPlan& plan) {
  std::string text;
  for (const Place& place : plan.places) {
    text += text.empty() ? "" : " | ";
    text += processors_text(place.processors);
    if (place.node != 0) text += "@" + std::to_string(place.node);
  }
  return text;
}

TEST(ThreadPlan, IsAWorkerOnEachFastCoreWithinTheQuota) {
  struct Case {
    Topology topology;
    int threads;
    const char* places;
  };
  const std::vector<Case> cases = {
      {machine(1, 4), 4, "0 | 1 | 2 | 3"},     {machine(1, 2, 4), 2, "0 | 1"},
      {machine(1, 4, 0, 1.5), 1, "0-3"},       {machine(1, 4, 0, 0.5), 1, "0-3"},
      {machine(1, 4, 0, 2), 2, "0-3 | 0-3"},   {machine(1, 4, 0, 1000), 4, "0 | 1 | 2 | 3"},
      {machine(2, 2), 4, "0 | 1 | 2@1 | 3@1"}, {machine(1, 1), 1, "0"}};
  for (const Case& c : cases) {
    const ThreadPlan plan = plan_threads(c.topology, {});
    EXPECT_EQ(plan.threads, c.threads) << c.places;
    EXPECT_EQ(places_of(plan), c.places);
  }
  EXPECT_EQ(plan_threads(machine(2, 200), {}).threads, kMaxThreads);
}

TEST(ThreadPlan, GivesAskedThreadsTheFastCoresFirst) {
  EXPECT_EQ(places_of(plan_threads(machine(1, 2, 2), {.threads = 1})), "0-1");
  EXPECT_EQ(places_of(plan_threads(machine(1, 2, 2), {.threads = 3})), "0-3 | 0-3 | 0-3");
  EXPECT_EQ(places_of(plan_threads(machine(1, 2, 2), {.threads = 4})), "0 | 1 | 2 | 3");
  EXPECT_EQ(plan_threads(machine(1, 2, 2, 1.0), {.threads = 4}).threads, 4) << "who asks is not bound by the quota";
}

TEST(ThreadPlan, PinsNothingWithMoreThreadsThanCoresOrWhereThatIsAsked) {
  EXPECT_EQ(places_of(plan_threads(machine(1, 2), {.threads = 3})), "");
  EXPECT_EQ(plan_threads(machine(1, 2), {.threads = 3}).threads, 3);
  EXPECT_EQ(places_of(plan_threads(machine(2, 2), {.pin = false})), "");
  EXPECT_EQ(plan_threads(machine(2, 2), {.pin = false}).nodes, 1);
}

TEST(ThreadPlan, SpreadsWorkersOverNodesAndKeepsNeighboursTogether) {
  const ThreadPlan plan = plan_threads(machine(2, 8), {.threads = 4});
  EXPECT_EQ(plan.nodes, 2);
  EXPECT_EQ(places_of(plan), "0-7 | 0-7 | 8-15@1 | 8-15@1");
  Topology uneven = machine(2, 3);
  uneven.cores.erase(uneven.cores.begin(), uneven.cores.begin() + 2);  // One core of node 0, three of node 1.
  EXPECT_EQ(places_of(plan_threads(uneven, {.threads = 4})), "2 | 3@1 | 4@1 | 5@1");
  EXPECT_EQ(places_of(plan_threads(uneven, {.threads = 3})), "2 | 3-5@1 | 3-5@1");
}

// The rows of a weight that lie on each node follow from the worker that packs them.
TEST(ThreadPlan, LaysHalfOfAWeightOnEachOfTwoNodes) {
  const ThreadPlan plan = plan_threads(machine(2, 2), {});
  constexpr int kPairs = 10;
  std::vector<int> node_of_pair;
  for (int worker = 0; worker < plan.threads; ++worker) {
    const PieceRange range = share_of(kPairs, worker, plan.threads);
    for (int pair = range.begin; pair < range.end; ++pair)
      node_of_pair.push_back(plan.places[static_cast<std::size_t>(worker)].node);
  }
  EXPECT_EQ(node_of_pair, (std::vector{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
}

TEST(ThreadPlan, IsToldInOneLine) {
  EXPECT_EQ(plan_text(plan_threads(machine(1, 2), {})), "2 threads, pinned to cores 0-1");
  EXPECT_EQ(plan_text(plan_threads(machine(1, 1), {})), "1 thread, pinned to core 0");
  EXPECT_EQ(plan_text(plan_threads(machine(1, 4), {.threads = 2})), "2 threads, pinned to any of cores 0-3");
  EXPECT_EQ(plan_text(plan_threads(machine(1, 1), {.threads = 2})), "2 threads, free to run anywhere");
  EXPECT_EQ(plan_text(plan_threads(machine(2, 2), {})),
            "4 threads, pinned to cores 0-3; 2 memory nodes, each weight cut among them: workers 0-1 and their rows on "
            "node 0, workers 2-3 and their rows on node 1");
}

TEST(KeptThread, GivesTheThreadItsProcessorsBack) {
  const std::vector<int> before = allowed_processors();
  {
    KeptThread kept(std::vector{before.back()});
    EXPECT_EQ(allowed_processors(), std::vector{before.back()});
    const KeptThread moved = std::move(kept);
    EXPECT_EQ(allowed_processors(), std::vector{before.back()});
  }
  EXPECT_EQ(allowed_processors(), before);
  { const KeptThread refused(std::vector{60000}); }
  EXPECT_EQ(allowed_processors(), before);
}

}  // namespace
}  // namespace plait
