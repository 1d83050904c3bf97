// Where results may be written: not onto the model that they come from.
#pragma once

#include <string>

#include "plait/result.h"

namespace plait {

// Fails where `out` is the file `model` by whatever name, or a part of its split set: it is read, mapped, while the
// results are written. Nothing has been opened yet.
Result<void> check_not_model(const std::string& out, const std::string& model);

}  // namespace plait
