// Messages from standard input, one line or several.
#include "line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace plait {
namespace {

using End = EditedLine::End;

constexpr int kLookMs = 50;  // How often an interrupt is looked for.
constexpr std::string_view kQuotes = "\"\"\"";

}  // namespace

LineReader::LineReader(std::string prompt, InterruptFlag& interrupt)
    : prompt_(std::move(prompt)), interrupt_(interrupt), editor_(LineEditor::open(interrupt)) {}

EditedLine LineReader::line(const std::string& prompt) {
  return editor_ != nullptr ? editor_->read(prompt) : plain_line();
}

// Not by the standard library, which reads on after an interrupt.
EditedLine LineReader::plain_line() {
  std::size_t looked = 0;
  for (;;) {
    if (const std::size_t end = waiting_.find('\n', looked); end != std::string::npos) {
      EditedLine result{.text = waiting_.substr(0, end)};
      waiting_.erase(0, end + 1);
      return result;
    }
    looked = waiting_.size();
    if (interrupt_.raised()) return {.end = End::kInterrupted};
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, kLookMs) != 1) continue;
    char bytes[1 << 16];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count > 0) {
      waiting_.append(bytes, static_cast<std::size_t>(count));
      continue;
    }
    if (waiting_.empty()) return {.end = End::kInputOver};
    return {.text = std::exchange(waiting_, {})};  // A last line without its end.
  }
}

EditedLine LineReader::message() {
  EditedLine first = line(prompt_);
  if (first.end != End::kLine) return first;
  if (!first.text.starts_with(kQuotes)) {
    // A terminal that does not mark pastes sends them as lines.
    while (editor_ != nullptr && editor_->more_is_waiting()) {
      const EditedLine more = line("");
      if (more.end == End::kInterrupted) return more;
      if (more.end == End::kInputOver) break;
      first.text += "\n" + more.text;
    }
    return first;
  }
  std::string message = first.text.substr(kQuotes.size());
  while (!message.ends_with(kQuotes)) {
    const EditedLine more = line("... ");
    if (more.end == End::kInterrupted) return more;
    if (more.end == End::kInputOver) return {.text = message};
    message += (message.empty() ? "" : "\n") + more.text;
  }
  return {.text = message.substr(0, message.size() - kQuotes.size())};
}

std::optional<std::string> LineReader::next() {
  for (;;) {
    EditedLine read = message();
    if (read.end == End::kInputOver || (read.end == End::kInterrupted && editor_ == nullptr)) return {};
    if (read.end == End::kLine) {
      if (editor_ != nullptr) editor_->remember(read.text);
      return std::move(read.text);
    }
    if (read.text.empty()) std::fputs("Ctrl-D or /bye leaves\n", stderr);
  }
}

}  // namespace plait
