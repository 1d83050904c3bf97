// Messages from standard input, over libedit on a terminal.
#include "line_reader.h"

#include <editline/readline.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace plait {
namespace {

constexpr std::string_view kQuotes = "\"\"\"";
constexpr int kPasteMs = 15;  // Nobody types a line that fast: what is already there was pasted.

bool more_is_waiting() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, kPasteMs) == 1 && (input.revents & POLLIN) != 0;
}

}  // namespace

LineReader::LineReader(std::string prompt) : prompt_(std::move(prompt)), interactive_(isatty(STDIN_FILENO) == 1) {
  if (interactive_) using_history();
}

std::optional<std::string> LineReader::line(const std::string& prompt) {
  if (!interactive_) {
    std::string text;
    if (!std::getline(std::cin, text)) return {};
    return text;
  }
  const std::unique_ptr<char, void (*)(void*)> text(readline(prompt.c_str()), std::free);
  if (text == nullptr) return {};
  if (*text != '\0') add_history(text.get());
  return std::string(text.get());
}

std::string LineReader::pasted_rest() {
  std::string rest;
  while (interactive_ && more_is_waiting()) {
    const std::optional<std::string> more = line("");
    if (!more) break;
    rest += "\n" + *more;
  }
  return rest;
}

std::optional<std::string> LineReader::next() {
  std::optional<std::string> first = line(prompt_);
  if (!first) return {};
  if (!first->starts_with(kQuotes)) return *first + pasted_rest();
  std::string message = first->substr(kQuotes.size());
  for (;;) {
    if (message.ends_with(kQuotes)) return message.substr(0, message.size() - kQuotes.size());
    const std::optional<std::string> more = line("... ");
    if (!more) return message;
    message += (message.empty() ? "" : "\n") + *more;
  }
}

}  // namespace plait
