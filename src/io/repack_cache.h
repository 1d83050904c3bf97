// The repack cache: a model's weights as a backend holds them, kept in a file beside the model, so that loading it
// again is reading alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "plait/result.h"

namespace plait {

// What the weights in a cache were made from and how they lie. All of it must agree, or the cache is of no use.
struct RepackStamp {
  std::uint64_t model = 0;   // Of the sizes and modification times of the model's files.
  std::uint64_t layout = 0;  // Of every weight's format, shape and place.
  bool checked = false;      // The weights were scanned for broken numbers. A checked cache serves both.
};

// Calls body(begin, end) for ranges that make up [0, count), at once where there are threads.
using ForRanges = std::function<void(int count, const std::function<void(int begin, int end)>& body)>;

constexpr std::uint64_t kHashStart = 0x9e3779b97f4a7c15;
// Bytes, mixed into `hash`. Finds damage; it is no defence against forgery.
std::uint64_t mix_bytes(std::uint64_t hash, std::span<const std::byte> bytes);
std::uint64_t mix_number(std::uint64_t hash, std::uint64_t number);

// Fills `to` from the cache. Fails with kNotFound where there is none; else with a sentence that says why it is of no
// use (of another model or another layout, truncated, damaged), and then `to` may hold anything.
Result<void> read_repack_cache(const std::string& path, const RepackStamp& stamp, std::span<std::byte> to,
                               const ForRanges& for_ranges);

// Replaces the cache; the file appears under its name when it is complete.
Result<void> write_repack_cache(const std::string& path, const RepackStamp& stamp, std::span<const std::byte> weights,
                                const ForRanges& for_ranges);

}  // namespace plait
