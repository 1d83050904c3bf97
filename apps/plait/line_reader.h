// Messages from standard input: edited lines with a history on a terminal, plain lines elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "line_editor.h"

namespace plait {

class LineReader {
 public:
  // `interrupt` must outlive the reader.
  LineReader(std::string prompt, InterruptFlag& interrupt);

  bool interactive() const { return editor_ != nullptr; }
  // One message: a line; lines that were pasted together; or the lines between two """. None: the input has ended, or
  // Ctrl-C came. On a terminal that only drops what was typed of the message, and clears the flag.
  std::optional<std::string> next();

 private:
  EditedLine line(const std::string& prompt);
  EditedLine plain_line();
  EditedLine message();

  std::string prompt_;
  const InterruptFlag& interrupt_;
  std::unique_ptr<LineEditor> editor_;  // Null where nobody types.
  std::string waiting_;                 // Read, but not taken yet, where nobody types.
};

}  // namespace plait
