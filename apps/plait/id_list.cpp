// Lists of numbers on the command line and in files.
#include "id_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/text.h"

namespace plait {

Result<std::vector<Token>> parse_ids(std::string_view text, std::string_view where) {
  constexpr std::string_view kBlanks = " \t\r\n", kSeparators = ", \t\r\n";
  std::vector<Token> ids;
  bool after_comma = false;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    Token id = 0;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (fault != std::errc() || stop != word.data() + word.size()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}: number {} is '{}', wanted a whole number", where,
                                                           ids.size(), printable(word.substr(0, 40))));
    }
    ids.push_back(id);
    at = text.find_first_not_of(kBlanks, end);
    after_comma = at != std::string_view::npos && text[at] == ',';
    if (after_comma) at = text.find_first_not_of(kBlanks, at + 1);
  }
  if (!after_comma) return ids;
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: nothing follows the last comma, wanted a number", where));
}

Result<std::string> read_text_file(const std::string& path, std::size_t limit) {
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault))
    return fail(ErrorCode::kIo, fmt::format("{}: is a folder, wanted a file", path));
  // A pipe by name would be waited for, perhaps for ever; by /dev/stdin or /dev/fd somebody has opened it already.
  const bool is_open = path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/");
  const auto status = std::filesystem::status(path, fault);
  if (!is_open && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const std::string_view kind = std::filesystem::is_fifo(status)     ? "a named pipe"
                                  : std::filesystem::is_socket(status) ? "a socket"
                                                                       : "a device";
    return fail(ErrorCode::kIo, fmt::format("{}: is {}, wanted a file (or - for standard input)", path, kind));
  }
  const char* const name = path == "-" ? "/dev/stdin" : path.c_str();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name, "rb"), std::fclose);
  if (file == nullptr) return fail(ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, got);
    if (text.size() > limit)
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}: is larger than {} bytes", path, limit));
  }
  if (std::ferror(file.get()) != 0) return fail(ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno)));
  return text;
}

Result<std::vector<Token>> read_id_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path, std::size_t{64} << 20);
  if (!text) return fail(text.error());
  return parse_ids(*text, path);
}

}  // namespace plait
