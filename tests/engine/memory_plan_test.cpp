// plan_memory: contexts and budgets, with numbers.
#include "engine/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait {
namespace {

// One layer of 1,024 bytes a token, trained for 8,192.
ModelSpec spec() {
  ModelSpec spec;
  spec.trained_context = 8192;
  LayerInfo layer;
  layer.state.rows[0].bytes = 1024;
  spec.layers.push_back(layer);
  return spec;
}
constexpr std::size_t kGiB = std::size_t{1} << 30;

MemoryRequest asks(std::optional<int> context, std::optional<std::size_t> bytes = {}) {
  MemoryRequest request;
  request.context = context;
  request.cache_bytes = bytes;
  return request;
}

TEST(MemoryPlan, TakesWhatTheDefaultContextNeeds) {
  const Result<MemoryPlan> plan = plan_memory(spec(), asks({}), kGiB);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->context, 4096);
  EXPECT_EQ(plan->cache_bytes, 4096u * 1024);
}

TEST(MemoryPlan, TakesZeroAsTheTrainedContext) { EXPECT_EQ(plan_memory(spec(), asks(0), kGiB)->context, 8192); }

TEST(MemoryPlan, TakesAGivenBudgetWhole) {
  const Result<MemoryPlan> plan = plan_memory(spec(), asks(1000, 8u << 20), kGiB);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->context, 1000);
  EXPECT_EQ(plan->cache_bytes, 8u << 20);
}

TEST(MemoryPlan, RefusesAnAskedContextWithWhatItNeedsAndWhatWouldFit) {
  const Result<MemoryPlan> budget = plan_memory(spec(), asks(4096, 1u << 20), kGiB);
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().code, ErrorCode::kNoMemory);
  EXPECT_EQ(budget.error().message,
            "a context of 4096 tokens needs 4.0 MiB, --mem allows 1.0 MiB; 1024 tokens would fit");
  const Result<MemoryPlan> memory = plan_memory(spec(), asks(1 << 30), kGiB);
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.error().message,
              testing::HasSubstr("half of the free memory is 512.0 MiB; 524288 tokens would fit"));
}

TEST(MemoryPlan, ShortensADefaultContextAndSaysSo) {
  std::vector<std::string> notes;
  const Result<MemoryPlan> plan = plan_memory(spec(), asks({}), 2u << 20, &notes);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->context, 1024);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], testing::HasSubstr("1024 tokens would fit, and are taken"));
}

TEST(MemoryPlan, LeavesRoomForTheScratchMemoryOfAStep) {
  MemoryRequest request = asks({});
  request.scratch_bytes = 1u << 20;
  const Result<MemoryPlan> plan = plan_memory(spec(), request, 3u << 20);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->context, 1024);  // Half of the two MiB that are left.
  request.cache_bytes = 2u << 20;
  EXPECT_TRUE(plan_memory(spec(), request, 3u << 20));
  request.cache_bytes = (2u << 20) + 1;
  EXPECT_FALSE(plan_memory(spec(), request, 3u << 20));
}

TEST(MemoryPlan, RefusesScratchMemoryThatIsNotFree) {
  MemoryRequest request = asks(16);
  request.scratch_bytes = 2u << 20;
  const Result<MemoryPlan> plan = plan_memory(spec(), request, 1u << 20);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kNoMemory);
  EXPECT_EQ(
      plan.error().message,
      "a step needs 2.0 MiB of scratch memory, 1.0 MiB of memory are free; smaller steps (-b) or activations of 8 "
      "bits need less");
}

TEST(MemoryPlan, RefusesWhatIsNotFree) {
  const Result<MemoryPlan> plan = plan_memory(spec(), asks(16, kGiB), kGiB / 2);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "1024.0 MiB are asked for the context, 512.0 MiB of memory are free");
}

}  // namespace
}  // namespace plait
