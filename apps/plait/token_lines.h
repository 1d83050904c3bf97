// What tokenize and detokenize share: reading lines from standard input, printing notes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"

namespace plait {

// Prints what `work` makes of each line of standard input that is not empty, one line each, until one fails.
Result<void> answer_lines(const std::function<Result<std::string>(std::string_view line)>& work);

// The whole of a file; "-" is standard input.
Result<std::string> read_text_file(const std::string& path);

// Sentences that the user should see, on standard error.
void print_notes(const std::vector<std::string>& notes);

}  // namespace plait
