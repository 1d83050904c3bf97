// Messages from standard input: edited lines with a history on a terminal, plain lines elsewhere.
#pragma once

#include <optional>
#include <string>

namespace plait {

class LineReader {
 public:
  explicit LineReader(std::string prompt);

  bool interactive() const { return interactive_; }
  // One message: a line; lines that were pasted together; or the lines between two """. None: the input has ended.
  std::optional<std::string> next();

 private:
  std::optional<std::string> line(const std::string& prompt);
  std::string pasted_rest();

  std::string prompt_;
  bool interactive_;
};

}  // namespace plait
