// Mixer: what moves information between the tokens of a sequence.
#pragma once

#include <string>

#include "backend/step.h"

namespace plait {

// Mixers are const: weights and numbers from the file, no state of their own, so one model serves any number of
// sequences.
class Mixer {
 public:
  virtual ~Mixer() = default;
  virtual std::string describe() const = 0;  // For listings: "attention, 9 / 3 heads of 64".
  virtual StateSpec state() const = 0;
  virtual bool runs_on(const Backend&) const { return true; }
  virtual int scratch_floats() const = 0;  // Of workspace for each token of a step.
  // x, out: [tokens, dim]; out does not alias x.
  virtual void forward(Step& step, Tensor x, Tensor out, const LayerState& state) const = 0;
};

}  // namespace plait
