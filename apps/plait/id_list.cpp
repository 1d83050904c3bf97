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
  constexpr std::string_view kSeparators = ", \t\r\n";
  std::vector<Token> ids;
  for (std::size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    Token id = 0;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (fault != std::errc() || stop != word.data() + word.size()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}: number {} is '{}', wanted a whole number", where,
                                                           ids.size(), printable(word.substr(0, 40))));
    }
    ids.push_back(id);
    at = text.find_first_not_of(kSeparators, end);
  }
  return ids;
}

Result<std::string> read_text_file(const std::string& path, std::size_t limit) {
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault))
    return fail(ErrorCode::kIo, fmt::format("{}: is a folder, wanted a file", path));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
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
