// The vocabulary of a model file: its tokenizer.* keys as plain data.
#include "engine/vocabulary_source.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <type_traits>

namespace plait {
namespace {

template <class T>
constexpr std::string_view kTypeName = "";
template <>
constexpr std::string_view kTypeName<bool> = "a truth value";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "an integer";
template <>
constexpr std::string_view kTypeName<std::string_view> = "a string";
template <>
constexpr std::string_view kTypeName<double> = "a number";
template <>
constexpr std::string_view kTypeName<std::vector<std::int64_t>> = "a list of integers";
template <>
constexpr std::string_view kTypeName<std::vector<double>> = "a list of numbers";
template <>
constexpr std::string_view kTypeName<std::vector<std::string_view>> = "a list of strings";
template <>
constexpr std::string_view kTypeName<std::vector<bool>> = "a list of truth values";

// Reads keys below "tokenizer.ggml." and keeps the first error.
class KeyReader {
 public:
  explicit KeyReader(const ModelFile& file) : file_(file) {}

  // Null: the key is not there, or is of another type, which is then the error.
  template <class T>
  const T* find(std::string_view name) {
    const std::string key = full(name);
    const MetadataValue* value = file_.find_metadata(key);
    if (value == nullptr) return nullptr;
    if (const T* found = std::get_if<T>(value)) return found;
    const std::string_view is = std::visit([](const auto& v) { return kTypeName<std::decay_t<decltype(v)>>; }, *value);
    set_error(fmt::format("{}: {} is {}; wanted {}", file_.path(), key, is, kTypeName<T>));
    return nullptr;
  }

  void read(std::string_view name, std::string& out) {
    if (const auto* value = find<std::string_view>(name)) out = *value;
  }
  void read(std::string_view name, int& flag) {
    if (const auto* value = find<bool>(name)) flag = *value ? 1 : 0;
  }
  void read_list(std::string_view name, std::vector<std::string>& out) {
    if (const auto* values = find<std::vector<std::string_view>>(name)) out.assign(values->begin(), values->end());
  }
  void read_id(std::string_view name, std::size_t tokens, Token& out) {
    const auto* value = find<std::int64_t>(name);
    if (value == nullptr) return;
    if (*value < 0 || static_cast<std::size_t>(*value) >= tokens) {
      return set_error(fmt::format("{}: {} is {}, which is no token id; there are {} tokens", file_.path(), full(name),
                                   *value, tokens));
    }
    out = static_cast<Token>(*value);
  }

  // Lists that, if there, hold one entry a token.
  template <class T>
  const std::vector<T>* find_one_a_token(std::string_view name, std::size_t tokens) {
    const auto* values = find<std::vector<T>>(name);
    if (values == nullptr || values->size() == tokens) return values;
    set_error(fmt::format("{}: {} has {} entries for the {} of tokenizer.ggml.tokens", file_.path(), full(name),
                          values->size(), tokens));
    return nullptr;
  }

  void set_error(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  const std::string& error() const { return error_; }
  std::string full(std::string_view name) const { return fmt::format("tokenizer.ggml.{}", name); }

 private:
  const ModelFile& file_;
  std::string error_;
};

void read_types(KeyReader& keys, const ModelFile& file, Vocabulary& vocabulary) {
  const auto* types = keys.find_one_a_token<std::int64_t>("token_type", vocabulary.tokens.size());
  if (types == nullptr) return;
  vocabulary.types.reserve(types->size());
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::int64_t type = (*types)[i];
    if (type < 1 || type > 6) {
      return keys.set_error(
          fmt::format("{}: tokenizer.ggml.token_type: entry {} is {}; wanted 1 to 6", file.path(), i, type));
    }
    vocabulary.types.push_back(static_cast<TokenType>(type));
  }
}

void read_ids(KeyReader& keys, Vocabulary& vocabulary) {
  struct NamedId {
    std::string_view name;
    Token Vocabulary::*id;
  };
  constexpr std::array<NamedId, 9> kIds = {{{"bos_token_id", &Vocabulary::bos},
                                            {"eos_token_id", &Vocabulary::eos},
                                            {"eot_token_id", &Vocabulary::eot},
                                            {"eom_token_id", &Vocabulary::eom},
                                            {"unknown_token_id", &Vocabulary::unknown},
                                            {"seperator_token_id", &Vocabulary::separator},  // Spelt so in files.
                                            {"padding_token_id", &Vocabulary::padding},
                                            {"cls_token_id", &Vocabulary::cls},
                                            {"mask_token_id", &Vocabulary::mask}}};
  for (const NamedId& each : kIds) keys.read_id(each.name, vocabulary.tokens.size(), vocabulary.*each.id);
}

void read_flags(KeyReader& keys, Vocabulary& vocabulary) {
  keys.read("add_bos_token", vocabulary.add_bos);
  keys.read("add_eos_token", vocabulary.add_eos);
  keys.read("add_sep_token", vocabulary.add_sep);
  keys.read("add_space_prefix", vocabulary.add_space_prefix);
  keys.read("remove_extra_whitespaces", vocabulary.remove_extra_whitespaces);
  keys.read("normalizer.lowercase", vocabulary.lowercase);
  keys.read("normalizer.strip_accents", vocabulary.strip_accents);
}

}  // namespace

Result<Vocabulary> read_vocabulary(const ModelFile& file) {
  KeyReader keys(file);
  Vocabulary vocabulary;
  keys.read("model", vocabulary.model);
  keys.read("pre", vocabulary.pre);
  keys.read_list("tokens", vocabulary.tokens);
  keys.read_list("merges", vocabulary.merges);
  if (keys.error().empty() && vocabulary.model.empty()) {
    keys.set_error(
        fmt::format("{}: tokenizer.ggml.model is missing; without it the file has no tokenizer", file.path()));
  }
  if (keys.error().empty() && vocabulary.tokens.empty()) {
    keys.set_error(fmt::format("{}: tokenizer.ggml.tokens is missing or empty; wanted a list of strings", file.path()));
  }
  if (const auto* scores = keys.find_one_a_token<double>("scores", vocabulary.tokens.size())) {
    vocabulary.scores.assign(scores->begin(), scores->end());
  }
  read_types(keys, file, vocabulary);
  read_ids(keys, vocabulary);
  read_flags(keys, vocabulary);
  if (!keys.error().empty()) return fail(ErrorCode::kCorrupt, keys.error());
  return vocabulary;
}

}  // namespace plait
