// Looks for numbers that no model means: NaN and infinity in scales or float values.
#pragma once

#include <cstdint>

#include "formats/raw_tensor.h"
#include "plait/result.h"

namespace plait {

// Reads only the scale fields of blocks where the format's are known, all values of float tensors, nothing of integer
// ones. Fails with the tensor's name, the row and what was found there; the caller puts the file's name before it.
Result<void> scan_tensor(const RawTensor& tensor);

// The same for some rows, so that several threads can share a tensor.
Result<void> scan_rows(const RawTensor& tensor, std::int64_t begin, std::int64_t count);

}  // namespace plait
