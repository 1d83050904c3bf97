// PreTokenizer: cuts a text into the pieces within which tokens are merged.
#include "text/pretokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "text/split_steps.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace plait {
namespace {

// PCRE2 refuses surrogates, which llama.cpp lets pass, and takes U+180E for white space, which Unicode no longer does.
// Both are shown to it as another character of three bytes with the properties they should have.
std::string for_pcre2(std::string_view text) {
  std::string shown(text);
  for (std::size_t at = 0; (at = shown.find('\xED', at)) != std::string::npos; ++at) {
    if (static_cast<unsigned char>(shown[at + 1]) >= 0xA0)
      shown.replace(at, 3, "\xEE\x80\x80");  // U+E000, private use.
  }
  for (std::size_t at = 0; (at = shown.find("\xE1\xA0\x8E", at)) != std::string::npos;) {
    shown.replace(at, 3, "\xE2\x80\x8B");  // U+200B, a format character too.
  }
  return shown;
}

struct Piece {
  std::size_t begin, end;
};

// Cuts one piece at the matches of a pattern.
Result<void> split_by_pattern(const Regex& regex, std::string_view text, Piece piece, RegexScratch& scratch,
                              std::vector<Piece>& out) {
  const std::string_view subject = text.substr(piece.begin, piece.end - piece.begin);
  std::size_t at = 0;
  while (at < subject.size()) {
    const Result<Match> match = regex.find(subject, at, scratch);
    if (!match) return fail(match.error());
    if (!match->found) break;
    check(match->end > match->begin, "a pre-tokenizer's pattern matches nothing");
    if (match->begin > at) out.push_back({piece.begin + at, piece.begin + match->begin});
    out.push_back({piece.begin + match->begin, piece.begin + match->end});
    at = match->end;
  }
  if (at < subject.size()) out.push_back({piece.begin + at, piece.end});
  return {};
}

}  // namespace

Result<PreTokenizer> PreTokenizer::make(std::string_view name) {
  const PreName* known = find_pre_name(name);
  if (known == nullptr) {
    std::vector<std::string_view> names;
    for (const PreName& each : pre_names()) names.push_back(each.name);
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("tokenizer.ggml.pre: pre-tokenizer '{}' is not known; known are {}", name, fmt::join(names, ", ")));
  }
  const PreFamily* family = find_pre_family(known->family);
  check(family != nullptr, "every pre-tokenizer name has a family");
  PreTokenizer made(known, family);
  for (const SplitStep& step : family->steps) {
    if (step.kind != StepKind::kPattern) continue;
    Result<Regex> regex = Regex::compile(step.pattern);
    if (!regex) return fail(regex.error());
    made.patterns_.push_back(std::move(*regex));
  }
  return made;
}

Result<std::vector<std::string_view>> PreTokenizer::split(std::string_view text) const {
  const std::string shown = for_pcre2(text);
  std::vector<Piece> pieces;
  if (!text.empty()) pieces.push_back({0, text.size()});
  RegexScratch scratch;
  std::size_t pattern = 0;
  for (const SplitStep& step : family_->steps) {
    std::vector<Piece> next;
    next.reserve(pieces.size() * 2);
    std::vector<std::string_view> cut;
    for (const Piece& piece : pieces) {
      if (step.kind == StepKind::kPattern) {
        if (Result<void> done = split_by_pattern(patterns_[pattern], shown, piece, scratch, next); !done) {
          return fail(done.error().code, fmt::format("pre-tokenizer '{}': {}", name_->name, done.error().message));
        }
        continue;
      }
      cut.clear();
      split_by_rule(step.kind, std::string_view(shown).substr(piece.begin, piece.end - piece.begin), cut);
      for (const std::string_view part : cut) {
        const auto begin = static_cast<std::size_t>(part.data() - shown.data());
        next.push_back({begin, begin + part.size()});
      }
    }
    pattern += step.kind == StepKind::kPattern;
    pieces = std::move(next);
  }
  std::vector<std::string_view> out;
  out.reserve(pieces.size());
  for (const Piece& piece : pieces) out.push_back(text.substr(piece.begin, piece.end - piece.begin));
  return out;
}

Result<std::vector<std::string>> split_text(std::string_view pre, std::string_view text) {
  const Result<PreTokenizer> splitter = PreTokenizer::make(pre);
  if (!splitter) return fail(splitter.error());
  const std::string repaired = repair_utf8(text);
  const Result<std::vector<std::string_view>> pieces = splitter->split(repaired);
  if (!pieces) return fail(pieces.error());
  return std::vector<std::string>(pieces->begin(), pieces->end());
}

}  // namespace plait
