// What tokenize and detokenize share: reading lines from standard input, printing notes.
#include "token_lines.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "commands.h"

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

Result<std::string> read_text_file(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) return fail(ErrorCode::kIo, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text;
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "plait: {}\n", without_terminal_codes(note));
}

}  // namespace plait
