// main() of the micro benchmarks, once all cases are added.
#pragma once

#include <benchmark/benchmark.h>

namespace plait {

// The exit code.
inline int run_benchmarks(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace plait
