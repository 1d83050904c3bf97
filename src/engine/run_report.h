// RunReport: how a model is computed here: instruction set, a kernel for each format, threads; for people and programs.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "io/model_file.h"

namespace plait {

struct KernelChoice {
  std::string format, kernel;  // "q4_k", "direct, panels from 24 tokens"
  int tensors = 0;
  std::size_t bytes = 0;  // In the file.
};

struct RunReport {
  std::string isa;
  int activations = 8;  // Bits.
  int threads = 0;
  std::string places;                 // "2 threads, pinned to cores 0-1"
  std::vector<KernelChoice> kernels;  // Of the formats of the file's matrices, most bytes first.
};

RunReport run_report(const ModelFile& file, const Backend& backend);

// A line each for instruction set, kernels and threads.
std::vector<std::string> report_lines(const RunReport& report);

// "memory: 93.8 MiB of weights, 180.0 MiB of cache, 12.1 MiB of scratch"
struct RunMemory {
  std::size_t weight_bytes = 0, cache_bytes = 0, scratch_bytes = 0;
};
std::string memory_line(const RunMemory& memory);

}  // namespace plait
