// LineEditor over libedit's own interface: its imitation of readline knows neither marked pastes nor interrupts.
#include "line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cwchar>
#include <string_view>

#include "base/utf8.h"

namespace plait {
namespace {

constexpr int kLookMs = 50;   // How often an interrupt and a new window size are looked for.
constexpr int kPasteMs = 15;  // The longest pause within a paste.
constexpr int kHistoryLines = 1000;
constexpr std::string_view kMarkPastes = "\x1b[?2004h", kMarkNoPastes = "\x1b[?2004l";
constexpr std::wstring_view kPasteEnd = L"\x1b[201~";

bool has_input(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, milliseconds) == 1;
}

// Line breaks are \n; what a terminal would obey is left out.
std::wstring pasted_text(std::wstring_view raw) {
  std::wstring text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const wchar_t c = raw[i];
    const wchar_t next = i + 1 < raw.size() ? raw[i + 1] : L'\0';
    if (c == L'\r' || c == L'\n') {
      text += L'\n';
      if ((next == L'\r' || next == L'\n') && next != c)
        ++i;  // In raw mode the terminal may turn either into the other.
    } else if (c == L'\t' || (c >= 0x20 && c != 0x7f)) {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::unique_ptr<LineEditor> LineEditor::open(InterruptFlag& interrupt) {
  if (isatty(STDIN_FILENO) != 1) return nullptr;
  const int shown_on = isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : STDOUT_FILENO;
  if (isatty(shown_on) != 1) return nullptr;
  // A stream of its own: standard error's has no buffer, and each character would be a call of the system.
  const int copy = dup(shown_on);
  std::FILE* const output = copy < 0 ? nullptr : fdopen(copy, "w");
  if (output == nullptr) return nullptr;
  return std::unique_ptr<LineEditor>(new LineEditor(output, interrupt));
}

LineEditor::LineEditor(std::FILE* output, InterruptFlag& interrupt)
    : output_(output), interrupt_(interrupt), edit_(nullptr), history_(history_init()) {
  // Texts of models are UTF-8 whatever the locale says, and libedit shows characters by the locale.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  edit_ = el_init("plait", stdin, output_, stderr);
  const char* const terminal = std::getenv("TERM");
  understands_codes_ = terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, kHistoryLines);
  ::history(history_, &event, H_SETUNIQUE, 1);
  bind_keys();
}

LineEditor::~LineEditor() {
  el_end(edit_);
  history_end(history_);
  std::fclose(output_);
}

void LineEditor::bind_keys() {
  el_set(edit_, EL_CLIENTDATA, this);
  el_set(edit_, EL_PROMPT, &LineEditor::prompt_of);
  el_set(edit_, EL_EDITOR, "emacs");
  el_set(edit_, EL_SIGNAL, 0);  // Signals are the program's.
  el_set(edit_, EL_HIST, ::history, history_);
  el_set(edit_, EL_GETCFN, &LineEditor::read_character);
  el_set(edit_, EL_ADDFN, "plait-paste", "Insert what the terminal marks as pasted", &LineEditor::insert_paste);
  el_set(edit_, EL_BIND, "\x1b[200~", "plait-paste", nullptr);
  el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(edit_, nullptr);  // ~/.editrc, if there is one.
}

LineEditor& LineEditor::of(EditLine* edit) {
  void* self = nullptr;
  el_get(edit, EL_CLIENTDATA, &self);
  return *static_cast<LineEditor*>(self);
}

char* LineEditor::prompt_of(EditLine* edit) { return of(edit).prompt_.data(); }

EditedLine LineEditor::read(const std::string& prompt) {
  prompt_ = prompt;
  interrupted_ = false;
  std::fflush(stdout);
  if (understands_codes_) std::fwrite(kMarkPastes.data(), 1, kMarkPastes.size(), output_);
  el_set(edit_, EL_PREP_TERM,
         1);  // libedit does it too, but only after the prompt: what is typed between would be lost.
  int bytes = 0;
  const char* const line = el_gets(edit_, &bytes);
  if (understands_codes_) std::fwrite(kMarkNoPastes.data(), 1, kMarkNoPastes.size(), output_);
  std::fflush(output_);
  EditedLine result;
  if (line != nullptr && bytes > 0) result.text.assign(line, static_cast<std::size_t>(bytes));
  if (result.text.ends_with('\n')) result.text.pop_back();
  if (interrupted_) {
    result.end = EditedLine::End::kInterrupted;
  } else if (line == nullptr || bytes <= 0) {
    result.end = EditedLine::End::kInputOver;
  }
  return result;
}

void LineEditor::remember(const std::string& message) {
  HistEvent event;
  if (!message.empty()) ::history(history_, &event, H_ENTER, message.c_str());
}

bool LineEditor::more_is_waiting() const { return at_ < waiting_.size() || has_input(kPasteMs); }

// The window may have another size, and a program that was stopped finds the terminal as the shell left it.
void LineEditor::follow_terminal() {
  winsize window{};
  if (ioctl(fileno(output_), TIOCGWINSZ, &window) == 0 && (window.ws_col != columns_ || window.ws_row != rows_)) {
    const bool known = columns_ != 0;
    columns_ = window.ws_col;
    rows_ = window.ws_row;
    if (known) {
      if (understands_codes_) std::fputs("\r\x1b[J", output_);
      el_resize(edit_);
      el_set(edit_, EL_REFRESH);
    }
  }
  termios mode{};
  if (tcgetattr(STDIN_FILENO, &mode) == 0 && (mode.c_lflag & ICANON) != 0) {
    el_set(edit_, EL_PREP_TERM, 0);
    el_set(edit_, EL_PREP_TERM, 1);
    el_set(edit_, EL_REFRESH);
  }
}

// False at the end of the input, and when an interrupt came.
bool LineEditor::fill() {
  at_ = 0;
  waiting_.clear();
  for (;;) {
    // A signal may have gone to another thread, so that nothing here was woken by it.
    if (interrupt_.raised()) {
      interrupt_.clear();
      interrupted_ = true;
      return false;
    }
    follow_terminal();
    if (!has_input(kLookMs)) continue;
    waiting_.resize(1 << 12);
    const ssize_t count = ::read(STDIN_FILENO, waiting_.data(), waiting_.size());
    waiting_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (count > 0) return true;
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) return false;
  }
}

int LineEditor::next_byte() {
  if (at_ == waiting_.size() && !fill()) return -1;
  return static_cast<unsigned char>(waiting_[at_++]);
}

int LineEditor::read_character(EditLine* edit, wchar_t* character) {
  LineEditor& self = of(edit);
  std::string bytes;
  while (!self.interrupted_ && (bytes.empty() || decode_utf8(bytes, 0).unfinished)) {
    const int next = self.next_byte();
    if (next < 0) break;
    bytes += static_cast<char>(next);
  }
  // The line ends where the interrupt came, and every reader within it comes to rest.
  if (self.interrupted_) return *character = L'\n', 1;
  if (bytes.empty()) return 0;
  const DecodedCharacter decoded = decode_utf8(bytes, 0);
  if (static_cast<std::size_t>(decoded.length) < bytes.size()) --self.at_;  // It begins the next one.
  *character = static_cast<wchar_t>(decoded.value);
  return 1;
}

unsigned char LineEditor::insert_paste(EditLine* edit, int) {
  const LineEditor& self = of(edit);
  std::wstring raw;
  wchar_t character = 0;
  while (!raw.ends_with(kPasteEnd) && !self.interrupted_ && el_wgetc(edit, &character) == 1) raw += character;
  if (self.interrupted_) return CC_NEWLINE;
  if (raw.ends_with(kPasteEnd)) raw.resize(raw.size() - kPasteEnd.size());
  const std::wstring text = pasted_text(raw);
  if (!text.empty() && el_winsertstr(edit, text.c_str()) != 0) return CC_ERROR;
  return CC_REFRESH;
}

}  // namespace plait
