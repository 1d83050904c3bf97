// LineEditor: one line at a time from a terminal, edited, with a history. Over libedit.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "interrupt.h"

struct editline;  // Of libedit, as are the next two.
struct history;

namespace plait {

struct EditedLine {
  enum class End { kLine, kInterrupted, kInputOver };
  End end = End::kLine;
  std::string text = {};  // UTF-8. A paste may have brought line breaks into it.
};

class LineEditor {
 public:
  // Null where standard input, or what the line would be shown on, is no terminal. Ctrl-C is looked for in `interrupt`,
  // which must outlive the editor.
  static std::unique_ptr<LineEditor> open(InterruptFlag& interrupt);

  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  EditedLine read(const std::string& prompt);
  void remember(const std::string& message);  // For the arrow up.
  // More has been typed already than was read: nobody types that fast, so it was pasted.
  bool more_is_waiting() const;

 private:
  LineEditor(std::FILE* output, InterruptFlag& interrupt);

  // What libedit calls, for the editor whose client data is this.
  static LineEditor& of(editline* edit);
  static int read_character(editline* edit, wchar_t* character);
  static unsigned char insert_paste(editline* edit, int);
  static char* prompt_of(editline* edit);

  void bind_keys();
  bool fill();
  void follow_terminal();
  int next_byte();

  std::FILE* output_;
  InterruptFlag& interrupt_;
  editline* edit_;
  history* history_;
  std::string prompt_;
  bool understands_codes_;  // The terminal: it is asked to say where a paste begins and ends.
  bool interrupted_ = false;
  std::string waiting_;  // Read, but not given to libedit yet.
  std::size_t at_ = 0;   // In waiting_.
  int columns_ = 0, rows_ = 0;
};

}  // namespace plait
