// How fast a model runs: prefill and decode, timed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examine/session.h"

namespace plait {

struct SpeedOptions {
  int prefill = 512;  // Tokens; 0: not measured.
  int decode = 128;
  int depth = 0;  // Tokens of context before either, filled with random rows.
  int rounds = 5;
  int sequences = 1;  // That decode together.
};

struct SpeedTest {
  std::string kind;  // "prefill" or "decode"
  int tokens = 0;
  int depth = 0;
  double median_tokens_per_s = 0, min = 0, max = 0;
  double gbps = 0;             // Of weights read, and in decode of rows and anchors, by the median.
  double bandwidth_share = 0;  // Of the machine's read bandwidth: the median of the rounds' shares.
};

struct SpeedReport {
  double read_gbps = 0;  // Median of the measures before each round.
  std::vector<SpeedTest> tests;
};

// The session's context must hold depth + max(prefill, decode) tokens for each sequence.
Result<SpeedReport> measure_speed(Session& session, const SpeedOptions& options,
                                  const std::function<void(int done, int rounds)>& progress = {});

}  // namespace plait
