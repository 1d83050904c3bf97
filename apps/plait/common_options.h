// The flags that all commands which run a model share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plait/result.h"

namespace plait {

struct CommonOptions {
  int threads = 0;                  // 0: as many as the machine has cores.
  std::string isa;                  // Empty: the best that the machine has.
  std::optional<int> context_size;  // None: min(trained, 4096). 0: as trained.
  int batch_size = 512;             // Most tokens in one step.
  std::optional<size_t>
      memory_bytes;  // For rows and anchors. None: what the context needs, at most half of what is free.
  std::string cache_type_k = "f16";  // f32, f16, bf16
  std::string cache_type_v = "f16";
  int activations = 8;                // Bits: 8, 16, 32.
  std::optional<std::uint64_t> seed;  // None: a fresh one.
  bool verbose = false;
  bool pin = true;  // Threads keep to their cores.
  bool repack_cache = false;
  bool check = true;  // Scan the weights for numbers that are none.
  bool lock_memory = false;
  bool map_file = true;
};

// `options` must live until the command has run.
void add_common_options(CLI::App& command, CommonOptions& options);

// A seed beyond 64 bits is refused, not cut down to the largest.
CLI::Validator seed_range();

// "4096", "512K", "1.5G", "2GiB": K, M, G and T are powers of 1024.
Result<size_t> parse_bytes(std::string_view text);

}  // namespace plait
