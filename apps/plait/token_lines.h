// What tokenize and detokenize share: a line in, a line out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "plait/result.h"

namespace plait {

// Prints what `work` makes of each line of standard input that is not empty, one line each, until one fails.
Result<void> answer_lines(const std::function<Result<std::string>(std::string_view line)>& work);

}  // namespace plait
