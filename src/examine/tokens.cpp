// What the commands tokenize and detokenize do: text to ids, ids to bytes, one at a time or a JSON line at a time.
#include "examine/tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/json.h"
#include "engine/vocabulary_source.h"
#include "io/model_file.h"
#include "text/unicode.h"

namespace plait {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<Json> parse_object(std::string_view line) {
  Result<Json> parsed = parse_json(line, "the line");
  if (!parsed) return fail(parsed.error());
  if (!parsed->is_object()) return fail(ErrorCode::kInvalidArgument, "the line is no JSON object");
  return parsed;
}

Result<std::string> text_of(const Json& object) {
  const auto text = object.find("text");
  const auto hex = object.find("hex");
  if (text != object.end() && text->is_string()) return text->get<std::string>();
  if (hex != object.end() && hex->is_string()) return bytes_of_hex(hex->get<std::string>());
  return fail(ErrorCode::kInvalidArgument, "the line has neither \"text\" nor \"hex\" as a string");
}

Result<bool> flag_of(const Json& object, const char* key, bool fallback) {
  const auto flag = object.find(key);
  if (flag == object.end()) return fallback;
  if (!flag->is_boolean())
    return fail(ErrorCode::kInvalidArgument, fmt::format("\"{}\" is neither true nor false", key));
  return flag->get<bool>();
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& path, std::string_view pre,
                                                  std::vector<std::string>* notes) {
  const Result<std::unique_ptr<ModelFile>> file = open_model_file(path);
  if (!file) return fail(file.error());
  Result<Vocabulary> vocabulary = read_vocabulary(**file);
  if (!vocabulary) return fail(vocabulary.error());
  if (!pre.empty()) {  // Splits as asked, and does nothing else to the text.
    vocabulary->pre = pre;
    vocabulary->nfc = 0;
  }
  Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(*vocabulary), notes);
  if (!tokenizer) return fail(tokenizer.error().code, fmt::format("{}: {}", path, tokenizer.error().message));
  return tokenizer;
}

Result<std::string> bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    unsigned value = 0;
    const char* begin = hex.data() + at;
    const char* end = begin + std::min<std::size_t>(2, hex.size() - at);
    const auto [stop, error] = std::from_chars(begin, end, value, 16);
    if (error != std::errc{} || stop != begin + 2) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is no hexadecimal text: wanted two digits a byte", hex));
    }
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

std::string ids_to_json(std::span<const Token> ids) { return fmt::format("[{}]", fmt::join(ids, ",")); }

Result<std::string> tokenize_line(const Tokenizer& tokenizer, std::string_view line, const EncodeOptions& defaults) {
  const Result<Json> object = parse_object(line);
  if (!object) return fail(object.error());
  const Result<std::string> text = text_of(*object);
  if (!text) return fail(text.error());
  const Result<bool> add_special = flag_of(*object, "add_special", defaults.add_special);
  if (!add_special) return fail(add_special.error());
  const Result<bool> parse_special = flag_of(*object, "parse_special", defaults.parse_special);
  if (!parse_special) return fail(parse_special.error());
  const Result<std::vector<Token>> ids =
      tokenizer.encode(*text, {.add_special = *add_special, .parse_special = *parse_special});
  if (!ids) return fail(ids.error());
  return ids_to_json(*ids);
}

Result<std::string> split_line(const PreTokenizer& splitter, std::string_view line) {
  const Result<Json> object = parse_object(line);
  if (!object) return fail(object.error());
  const Result<std::string> text = text_of(*object);
  if (!text) return fail(text.error());
  return split_to_json(splitter, *text);
}

Result<std::string> split_to_json(const PreTokenizer& splitter, std::string_view text) {
  const std::string repaired = repair_utf8(text);
  const Result<std::vector<std::string_view>> pieces = splitter.split(repaired);
  if (!pieces) return fail(pieces.error());
  return dump(Json(*pieces));
}

Result<std::string> detokenize(const Tokenizer& tokenizer, std::span<const Token> ids,
                               const DetokenizeOptions& options) {
  bool drop = options.drop_first_space && tokenizer.drops_first_space();
  std::string out;
  for (const Token id : ids) {
    if (id < 0 || id >= tokenizer.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is no token id: the vocabulary has {} tokens", id, tokenizer.size()));
    }
    const std::string piece = tokenizer.piece(id, options.special);
    const bool cut = drop && piece.starts_with(' ');
    out.append(piece, cut ? 1 : 0);
    drop = drop && piece.empty();
  }
  return out;
}

Result<std::string> detokenize_line(const Tokenizer& tokenizer, std::string_view line,
                                    const DetokenizeOptions& options) {
  const Result<Json> parsed = parse_json(line, "the line");
  if (!parsed) return fail(parsed.error());
  if (!parsed->is_array()) return fail(ErrorCode::kInvalidArgument, "the line is no JSON array of token ids");
  std::vector<Token> ids;
  for (const Json& each : *parsed) {
    constexpr std::int64_t kMost = std::numeric_limits<Token>::max();
    if (!each.is_number_integer() || each.get<std::int64_t>() < 0 || each.get<std::int64_t>() > kMost) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} is no token id", dump(each)));
    }
    ids.push_back(each.get<Token>());
  }
  const Result<std::string> bytes = detokenize(tokenizer, ids, options);
  if (!bytes) return fail(bytes.error());
  std::string hex;
  for (const char byte : *bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return fmt::format("{{\"hex\":\"{}\"}}", hex);
}

}  // namespace plait
