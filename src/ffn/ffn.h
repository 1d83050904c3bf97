// Ffn: what works on each token alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backend/step.h"

namespace plait {

// What experts() needs to be reserved for.
struct ExpertShape {
  Routing routing;
  int hidden = 0;
};

class Ffn {
 public:
  virtual ~Ffn() = default;
  virtual std::string describe() const = 0;                                    // For listings: "glu silu 1536".
  virtual int scratch_floats() const = 0;                                      // Of workspace for each token of a step.
  virtual std::optional<ExpertShape> experts() const { return std::nullopt; }  // None: it has no experts.
  // How often each expert was chosen; nothing where there are no experts. May be read from any thread.
  virtual std::span<const std::atomic<std::uint64_t>> expert_counts() const { return {}; }
  // x, out: [tokens, dim]; out does not alias x.
  virtual void forward(Step& step, Tensor x, Tensor out) const = 0;
};

}  // namespace plait
