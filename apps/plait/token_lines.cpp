// What tokenize and detokenize share: a line in, a line out.
#include "token_lines.h"

#include <fmt/format.h>

#include <iostream>

namespace plait {

Result<void> answer_lines(const std::function<Result<std::string>(std::string_view line)>& work) {
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const Result<std::string> answer = work(line);
    if (!answer) return fail(answer.error().code, fmt::format("line {}: {}", number, answer.error().message));
    fmt::print("{}\n", *answer);
  }
  return {};
}

}  // namespace plait
