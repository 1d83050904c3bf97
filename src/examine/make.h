// make: writes a random, well-scaled model of any architecture and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "plait/result.h"

namespace plait {

struct MakeRequest {
  std::string architecture;
  std::string shape = "tiny";  // A name from the architecture's table, or the path of a JSON file.
  std::string type;            // Of all matrices; empty: the first of q4_k, q8_0 and f16 that fits all widths.
  std::uint64_t seed = 0;
  std::string path;
  int threads = 1;  // Of no influence on the bytes.
  // Called now and then; false stops the work.
  std::function<bool(std::size_t done_bytes, std::size_t total_bytes)> progress;
};

struct MakeReport {
  std::string type;
  int tensors = 0;
  std::int64_t parameters = 0;
  std::size_t bytes = 0;  // Of the file.
};

// Same request, same bytes, on every machine. Which tensors there are the architecture's own function says.
Result<MakeReport> make_model(const MakeRequest& request);

}  // namespace plait
