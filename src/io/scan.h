// Looks for numbers that no model means: NaN and infinity in scales or float values.
#pragma once

#include "formats/raw_tensor.h"
#include "plait/result.h"

namespace plait {

// Fails with the tensor's name, the row and what was found.
Result<void> scan_tensor(const RawTensor& tensor);

}  // namespace plait
