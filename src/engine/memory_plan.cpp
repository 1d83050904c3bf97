// How long a context may be, and the memory it gets.
#include "engine/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "cache/state_cost.h"

namespace plait {
namespace {

constexpr int kDefaultContext = 4096;
constexpr double kMiB = 1024.0 * 1024.0;

}  // namespace

Result<MemoryPlan> plan_memory(const ModelSpec& spec, const MemoryRequest& request, std::size_t free_bytes,
                               std::vector<std::string>* notes) {
  if (request.scratch_bytes > free_bytes) {
    return fail(
        ErrorCode::kNoMemory,
        fmt::format("a step needs {:.1f} MiB of scratch memory, {:.1f} MiB of memory are free; smaller steps (-b) "
                    "or activations of 8 bits need less",
                    static_cast<double>(request.scratch_bytes) / kMiB, static_cast<double>(free_bytes) / kMiB));
  }
  free_bytes -= request.scratch_bytes;
  const StateCost cost = state_cost(spec.states());
  const std::size_t sequences = static_cast<std::size_t>(std::max(request.sequences, 1));
  const int asked = request.context.value_or(std::min(spec.trained_context, kDefaultContext));
  MemoryPlan plan;
  plan.context = asked == 0 ? spec.trained_context : asked;

  const std::size_t allowed = request.cache_bytes.value_or(free_bytes / 2);
  const std::size_t each = cost.context(plan.context);  // The greatest size_t if it is more than that.
  if (each <= allowed / sequences) {
    const std::size_t welcome = std::max(sequences, static_cast<std::size_t>(std::max(request.welcome_sequences, 1)));
    plan.cache_bytes = request.cache_bytes.value_or(each <= allowed / welcome ? each * welcome : allowed);
  } else {
    const int fitting = cost.tokens_that_fit(allowed / sequences);
    const std::string numbers =
        fmt::format("a context of {} tokens needs {:.1f} MiB, {} {:.1f} MiB; {} tokens would fit", plan.context,
                    static_cast<double>(each) * static_cast<double>(sequences) / kMiB,
                    request.cache_bytes ? "--mem allows" : "half of the free memory is",
                    static_cast<double>(allowed) / kMiB, fitting);
    if (request.context || fitting < kBlockTokens) return fail(ErrorCode::kNoMemory, numbers);
    if (notes != nullptr) notes->push_back(numbers + ", and are taken");
    plan.context = std::min(fitting, plan.context);
    plan.cache_bytes = allowed;
  }
  if (plan.cache_bytes > free_bytes) {
    return fail(ErrorCode::kNoMemory,
                fmt::format("{:.1f} MiB are asked for the context, {:.1f} MiB of memory are free",
                            static_cast<double>(plan.cache_bytes) / kMiB, static_cast<double>(free_bytes) / kMiB));
  }
  return plan;
}

}  // namespace plait
