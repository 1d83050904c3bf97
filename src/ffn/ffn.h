// Ffn: what works on each token alone.
#pragma once

#include <string>

#include "backend/step.h"

namespace plait {

class Ffn {
 public:
  virtual ~Ffn() = default;
  virtual std::string describe() const = 0;  // For listings: "glu silu 1536".
  virtual int scratch_floats() const = 0;    // Of workspace for each token of a step.
  // x, out: [tokens, dim]; out does not alias x.
  virtual void forward(Step& step, Tensor x, Tensor out) const = 0;
};

}  // namespace plait
