// The JSON reader: a check of nesting, nlohmann's parser, and a second pass that finds where bad text breaks.
#include "base/json.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

// The offset at which the text nests deeper than allowed, or npos. Strings are skipped, all else is the parser's
// business.
std::size_t too_deep_at(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

// Accepts every event and remembers where the parser stopped.
struct ErrorFinder : nlohmann::json_sax<Json> {
  std::size_t offset = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    offset = position;
    return false;
  }
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  if (const std::size_t at = too_deep_at(text); at != std::string_view::npos) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: nested deeper than {} levels at offset {}", what, kMaxJsonDepth, at));
  }
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  ErrorFinder finder;
  Json::sax_parse(text, &finder);
  // The parser counts the character it stopped at.
  const std::size_t offset = finder.offset > 0 ? finder.offset - 1 : 0;
  return fail(ErrorCode::kCorrupt, fmt::format("{}: not valid JSON at offset {} of {}", what, offset, text.size()));
}

}  // namespace plait
