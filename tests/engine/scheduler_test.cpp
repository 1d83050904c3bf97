// plan(): tables over integers, and whole runs of random requests that must all end.
#include "engine/scheduler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "cache/sequence.h"

namespace plait {
namespace {

// "outgrown 1; pause 2; admit 0 1; work 0:16 1:1", empty parts left out.
std::string text_of(const Plan& plan) {
  std::vector<std::string> parts;
  const auto list = [&](const char* name, const std::vector<int>& numbers) {
    if (!numbers.empty()) parts.push_back(fmt::format("{} {}", name, fmt::join(numbers, " ")));
  };
  list("outgrown", plan.outgrown);
  list("pause", plan.pause);
  list("admit", plan.admit);
  std::vector<std::string> work;
  for (const Portion& p : plan.work) work.push_back(fmt::format("{}:{}", p.entry, p.count));
  if (!work.empty()) parts.push_back(fmt::format("work {}", fmt::join(work, " ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Entry fresh(int known) { return {.known = known}; }
Entry running(int known, int computed) { return {.known = known, .computed = computed, .admitted = true}; }
Entry blocked(int known, int computed) {
  return {.known = known, .computed = computed, .admitted = true, .blocked = true};
}

// One byte a block, so that the tables count in blocks.
const StateCost kBlocks{.groups = {{.block_bytes = 1}}};

Limits limits_of(int step_tokens, int max_sequences, int total, int free) {
  return {.step_tokens = step_tokens,
          .max_sequences = max_sequences,
          .total_bytes = static_cast<std::size_t>(total),
          .free_bytes = static_cast<std::size_t>(free),
          .cost = &kBlocks};
}

struct Case {
  const char* name;
  std::vector<Entry> entries;
  Limits limits;
  const char* expected;
};

TEST(Plan, DecidesByTheseRules) {
  const Limits roomy = limits_of(64, 4, 100, 100);
  const auto blocks = [](int total, int free) { return limits_of(64, 4, total, free); };
  const Case cases[] = {
      {"nothing to do", {}, roomy, ""},
      {"a short prompt at once", {fresh(10)}, roomy, "admit 0; work 0:10"},
      {"a long prompt in pieces", {fresh(200)}, roomy, "admit 0; work 0:64"},
      {"the rest of a prompt", {running(200, 192)}, roomy, "work 0:8"},
      {"decode rows first, then prompts up to block borders",
       {running(200, 64), running(31, 30), running(8, 7)},
       roomy,
       "work 0:48 1:1 2:1"},
      {"a piece that starts inside a block ends at a border", {running(200, 65)}, roomy, "work 0:63"},
      {"a piece shorter than a block is not empty", {running(200, 64)}, limits_of(7, 4, 100, 90), "work 0:7"},
      {"prompts in order of arrival", {fresh(60), fresh(60)}, roomy, "admit 0 1; work 0:60 1:4"},
      {"no more than may run together",
       {running(5, 4), running(5, 4), running(5, 4), running(5, 4), fresh(3)},
       roomy,
       "work 0:1 1:1 2:1 3:1"},
      {"a blocked sequence is left alone", {blocked(20, 19), running(8, 7)}, roomy, "work 1:1"},
      {"a new one waits for room beside the running", {running(17, 16), fresh(16)}, blocks(6, 5), "work 0:1"},
      {"a new one fits beside the running", {running(17, 16), fresh(16)}, blocks(8, 7), "admit 1; work 0:1 1:16"},
      {"nobody overtakes", {running(17, 16), fresh(160), fresh(1)}, blocks(10, 9), "work 0:1"},
      {"a blocked one that waits is passed by", {{.known = 9, .blocked = true}, fresh(4)}, roomy, "admit 1; work 1:4"},
      {"alone it needs only its own blocks", {fresh(64)}, blocks(4, 4), "admit 0; work 0:64"},
      {"what can never fit is told so", {fresh(65), fresh(5)}, blocks(4, 4), "outgrown 0; admit 1; work 1:5"},
      {"the latest arrival makes room",
       {running(17, 16), running(17, 16), running(30, 20)},
       blocks(4, 0),
       "pause 2; work 0:1 1:1"},
      {"a blocked one makes room first", {blocked(30, 20), running(17, 16)}, blocks(3, 0), "pause 0; work 1:1"},
      {"the latest itself is paused", {running(18, 17), running(17, 16)}, blocks(3, 0), "pause 1; work 0:1"},
      {"alone and full", {running(33, 32)}, blocks(2, 0), "outgrown 0"},
      {"no block is needed inside one", {running(20, 19), running(24, 23)}, blocks(4, 0), "work 0:1 1:1"},
      {"a prompt takes what is free", {running(100, 16)}, blocks(4, 2), "work 0:32"},
      {"a prompt that is stuck pauses the latest",
       {running(100, 16), running(20, 19)},
       blocks(3, 0),
       "pause 1; work 0:32"},
      {"nobody is admitted while somebody is paused",
       {running(17, 16), running(17, 16), fresh(1)},
       blocks(2, 0),
       "pause 1; work 0:1"},
  };
  for (const Case& c : cases) EXPECT_EQ(text_of(plan(c.entries, c.limits)), c.expected) << c.name;
}

// Random requests over a small pool: carries plans out on integers, and checks each.
struct Simulation {
  struct Job {
    Entry entry;
    int goal = 0;  // Tokens known at its end.
    bool done = false;
  };
  std::vector<Job> jobs;
  StateCost cost;
  std::size_t total = 0;
  int step_tokens = 0, max_sequences = 0;

  std::size_t used() const {
    std::size_t sum = 0;
    for (const Job& job : jobs) sum += cost.held(job.entry.computed);
    return sum;
  }

  // False when all are done.
  bool step(std::uint64_t seed) {
    std::vector<Entry> entries;
    std::vector<Job*> live;
    for (Job& job : jobs) {
      if (job.done) continue;
      job.entry.blocked = random_bits(seed, live.size()) % 5 == 0;
      entries.push_back(job.entry);
      live.push_back(&job);
    }
    if (live.empty()) return false;
    const Plan planned = plan(entries, {.step_tokens = step_tokens,
                                        .max_sequences = max_sequences,
                                        .total_bytes = total,
                                        .free_bytes = total - used(),
                                        .cost = &cost});
    auto job = [&](int i) -> Job& { return *live[static_cast<std::size_t>(i)]; };
    for (const int i : planned.outgrown) {
      EXPECT_GT(cost.context(job(i).entry.known), total);
      job(i).done = true;
      job(i).entry.computed = 0;
    }
    for (const int i : planned.pause) job(i).entry = {.known = job(i).entry.known};
    for (const int i : planned.admit) job(i).entry.admitted = true;
    int tokens = 0;
    std::size_t most = used();  // Before anything is given up again.
    for (const Portion& p : planned.work) {
      Job& j = job(p.entry);
      most += cost.wanted({.computed = j.entry.computed, .count = p.count});
      EXPECT_TRUE(j.entry.admitted && !j.entry.blocked && !j.done);
      EXPECT_LE(j.entry.computed + p.count, j.entry.known);
      EXPECT_GT(p.count, 0);
      tokens += p.count;
      j.entry.computed += p.count;
    }
    EXPECT_LE(tokens, step_tokens);
    EXPECT_LE(most, total);
    EXPECT_LE(used(), most);
    EXPECT_LE(std::count_if(jobs.begin(), jobs.end(), [](const Job& j) { return j.entry.admitted && !j.done; }),
              max_sequences);
    for (const Portion& p : planned.work) {
      Job& j = job(p.entry);
      if (j.entry.computed < j.entry.known) continue;
      j.done = ++j.entry.known > j.goal;
      if (j.done) j.entry.computed = 0;
    }
    return true;
  }
};

StateCost cost_of(bool hybrid) {
  StateCost cost = kBlocks;
  if (!hybrid) return cost;
  cost.groups.push_back({.window = kSinceAnchor, .read_in_pass = false, .block_bytes = 4});
  cost.groups.push_back({.window = 3, .read_in_pass = false, .block_bytes = 2});
  cost.anchor_bytes = 6;
  return cost;
}

TEST(Plan, BringsEveryRequestToItsEnd) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Simulation simulation;
    simulation.cost = cost_of(seed % 2 == 1);
    simulation.total = simulation.cost.context(48) + random_bits(seed, 0) % 60;
    simulation.step_tokens = 8 + static_cast<int>(random_bits(seed, 1) % 60);
    simulation.max_sequences = 1 + static_cast<int>(random_bits(seed, 2) % 8);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const int prompt = 1 + static_cast<int>(random_bits(seed, 10 + i) % 120);
      simulation.jobs.push_back(
          {.entry = fresh(prompt), .goal = prompt + static_cast<int>(random_bits(seed, 50 + i) % 80)});
    }
    int steps = 0;
    while (simulation.step(seed * 100000 + static_cast<std::uint64_t>(steps))) {
      ASSERT_LT(++steps, 20000) << "seed " << seed;
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", step " << steps;
    }
  }
}

}  // namespace
}  // namespace plait
