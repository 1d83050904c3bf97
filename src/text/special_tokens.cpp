// SpecialTokens: which tokens are found by their spelling before anything else is tokenized, and which end a
// generation.
#include "text/special_tokens.h"

#include <algorithm>
#include <array>

namespace plait {
namespace {

using std::string_view_literals::operator""sv;

// Spellings that end a turn or a text, whatever type the file gives them.
constexpr std::array kEndTexts = {"<|eot_id|>"sv,
                                  "<|im_end|>"sv,
                                  "<|end|>"sv,
                                  "<|return|>"sv,
                                  "<|call|>"sv,
                                  "<|flush|>"sv,
                                  "<|calls|>"sv,
                                  "<|eom_id|>"sv,
                                  "<|endoftext|>"sv,
                                  "<|end_of_text|>"sv,
                                  "<｜end▁of▁sentence｜>"sv,
                                  "<end_of_utterance>"sv,
                                  "<end_of_turn>"sv,
                                  "<|tool_response>"sv,
                                  "<turn|>"sv};

// Spellings that ordinary text may have too: they end only where the file marks them as special.
constexpr std::array kDoubtfulEndTexts = {"<EOT>"sv, "_<EOT>"sv, "[EOT]"sv, "[EOS]"sv, "<eos>"sv, "[e~["sv};

// Marks of fill-in-the-middle and of repositories: control tokens even where a file calls them user-defined. They end
// nothing.
constexpr std::array kControlTexts = {"<|fim_prefix|>"sv, "<fim-prefix>"sv, "<fim_prefix>"sv,    "<｜fim▁begin｜>"sv,
                                      "<PRE>"sv,          "▁<PRE>"sv,       "<|code_prefix|>"sv, "<|prefix|>"sv,
                                      "<|fim_suffix|>"sv, "<fim-suffix>"sv, "<fim_suffix>"sv,    "<｜fim▁hole｜>"sv,
                                      "<SUF>"sv,          "▁<SUF>"sv,       "<|code_suffix|>"sv, "<|suffix|>"sv,
                                      "<|fim_middle|>"sv, "<fim-middle>"sv, "<fim_middle>"sv,    "<｜fim▁end｜>"sv,
                                      "<MID>"sv,          "▁<MID>"sv,       "<|code_middle|>"sv, "<|middle|>"sv,
                                      "<|fim_pad|>"sv,    "<fim-pad>"sv,    "<fim_pad>"sv,       "<PAD>"sv,
                                      "[PAD]"sv,          "<|fim_repo|>"sv, "<|repo_name|>"sv,   "<fim-repo>"sv,
                                      "<REPO>"sv,         "<reponame>"sv,   "<|file_sep|>"sv,    "</s>"sv};

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool reads_as_control(std::string_view text) {
  return contains(kEndTexts, text) || contains(kDoubtfulEndTexts, text) || contains(kControlTexts, text);
}

TokenType type_of(const Vocabulary& vocabulary, std::size_t id) {
  return vocabulary.types.empty() ? TokenType::kNormal : vocabulary.types[id];
}

std::vector<TrieEntry> special_entries(const Vocabulary& vocabulary) {
  std::vector<TrieEntry> entries;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const TokenType type = type_of(vocabulary, id);
    const bool special = type == TokenType::kControl || type == TokenType::kUnknown || type == TokenType::kUserDefined;
    if (special || reads_as_control(vocabulary.tokens[id])) {
      entries.push_back({vocabulary.tokens[id], static_cast<Token>(id)});
    }
  }
  return entries;
}

std::vector<Token> end_tokens(const Vocabulary& vocabulary) {
  std::vector<Token> ends = vocabulary.more_end_tokens;
  ends.insert(ends.end(), {vocabulary.eos, vocabulary.eot, vocabulary.eom});
  const auto has = [&](std::string_view text) { return contains(vocabulary.tokens, text); };
  // Where these are there, <|end|> closes a message of several and the answer goes on.
  const bool end_goes_on = (has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"));
  const bool html_close = has("<|tool_response>");
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& text = vocabulary.tokens[id];
    if (text.size() < 4 || text.size() > 32) continue;
    const TokenType type = type_of(vocabulary, id);
    bool ends_here = contains(kEndTexts, text) && !(text == "<|end|>" && end_goes_on);
    ends_here |= contains(kDoubtfulEndTexts, text) && type != TokenType::kNormal;
    // </s> is an HTML tag in some vocabularies; those do not mark it as control.
    ends_here |= text == "</s>" && type == TokenType::kControl && !html_close;
    if (ends_here) ends.push_back(static_cast<Token>(id));
  }
  std::erase(ends, -1);
  std::sort(ends.begin(), ends.end());
  return ends;
}

// Phi-3's tokenizer lets its added tokens take the white space after them. Files do not say so; its place holders tell.
std::vector<bool> tokens_that_eat_space(const Vocabulary& vocabulary) {
  if (vocabulary.model != "llama" || !contains(vocabulary.tokens, "<|placeholder1|>")) return {};
  std::vector<bool> eats(vocabulary.tokens.size(), false);
  for (const TrieEntry& entry : special_entries(vocabulary)) {
    eats[static_cast<std::size_t>(entry.id)] =
        entry.text != "<unk>" && entry.text != "<s>" && entry.text != "<|endoftext|>";
  }
  return eats;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary)
    : plain_(vocabulary.tokens.size()),
      eats_space_(tokens_that_eat_space(vocabulary)),
      ends_(end_tokens(vocabulary)),
      trie_(special_entries(vocabulary)) {
  for (std::size_t id = 0; id < plain_.size(); ++id) {
    plain_[id] = type_of(vocabulary, id) == TokenType::kUserDefined && !reads_as_control(vocabulary.tokens[id]);
  }
}

void SpecialTokens::take_space_after(std::string_view text, std::size_t& at, Token token) const {
  if (eats_space_.empty() || !eats_space_[static_cast<std::size_t>(token)]) return;
  while (at < text.size() && std::string_view(" \t\n\v\f\r").find(text[at]) != std::string_view::npos) ++at;
}

std::vector<TextPart> SpecialTokens::split(std::string_view text, bool parse_special) const {
  std::vector<TextPart> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const TrieEntry match =
        trie_.longest(text, at, [&](std::int32_t id) { return parse_special || plain_[static_cast<std::size_t>(id)]; });
    if (match.id < 0) {
      ++at;
      continue;
    }
    if (at > begin) parts.push_back({-1, text.substr(begin, at - begin)});
    parts.push_back({match.id, text.substr(at, match.text.size())});
    at += match.text.size();
    take_space_after(text, at, match.id);
    begin = at;
  }
  if (begin < text.size()) parts.push_back({-1, text.substr(begin)});
  return parts;
}

bool SpecialTokens::is_end(Token token) const { return std::binary_search(ends_.begin(), ends_.end(), token); }

}  // namespace plait
