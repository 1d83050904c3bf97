// Split sets: NAME-00001-of-00005.gguf and its sisters, and the keys that tie them together. Internal to the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/gguf.h"

namespace plait {

// Where a file's name places it in a set: NAME-<part>-of-<count>.gguf, both of five digits, part counted from 1.
struct SplitName {
  std::string stem;  // Everything before "-<part>-of-".
  int part = 0;
  int count = 0;

  std::string path_of(int wanted) const;
};

// Nothing, if the path is not of that form.
std::optional<SplitName> split_name(std::string_view path);

// The keys split.no, split.count and split.tensors.count of one part.
struct SplitKeys {
  int part = 1;              // Counted from 1; split.no is counted from 0.
  int count = 1;             // 1: not split.
  std::int64_t tensors = 0;  // Of all parts together.
};

Result<SplitKeys> split_keys(std::string_view path, const Gguf& gguf);

}  // namespace plait
