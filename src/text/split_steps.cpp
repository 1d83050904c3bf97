// Steps of a pre-tokenizer that are no patterns: rules over runs of digits or white space, each in one pass.
#include "text/split_steps.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "text/unicode.h"

namespace plait {
namespace {

using CharacterTest = bool (*)(char32_t);
using Pieces = std::vector<std::string_view>;

// Surrogates, which repaired text may hold, decode as three invalid bytes: no class has them.
std::size_t character_length(std::string_view text, std::size_t at) {
  return static_cast<std::size_t>(decode_utf8(text, at).length);
}

void add(std::string_view piece, std::size_t begin, std::size_t end, Pieces& out) {
  if (end > begin) out.push_back(piece.substr(begin, end - begin));
}

struct Run {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> starts;  // Where each of its characters begins.
};

// The next run of characters that pass `test`, at `from` or later; empty at the end when there is none.
void next_run(std::string_view piece, std::size_t from, CharacterTest test, Run& run) {
  run.starts.clear();
  std::size_t at = from;
  while (at < piece.size() && !test(decode_utf8(piece, at).value)) at += character_length(piece, at);
  run.begin = at;
  while (at < piece.size() && test(decode_utf8(piece, at).value)) {
    run.starts.push_back(at);
    at += character_length(piece, at);
  }
  run.end = at;
}

// Cuts a run into threes counted from its end.
void add_groups(std::string_view piece, const Run& run, Pieces& out) {
  std::size_t begin = run.begin;
  for (std::size_t i = 1; i < run.starts.size(); ++i) {
    if ((run.starts.size() - i) % 3 != 0) continue;
    add(piece, begin, run.starts[i], out);
    begin = run.starts[i];
  }
  add(piece, begin, run.end, out);
}

void split_number_groups(std::string_view piece, CharacterTest test, bool only_whole_words, Pieces& out) {
  Run run;
  std::size_t gap = 0;
  for (std::size_t at = 0; at < piece.size(); at = run.end) {
    next_run(piece, at, test, run);
    const bool in_a_word = run.end < piece.size() && is_word(decode_utf8(piece, run.end).value);
    if (run.starts.empty() || (only_whole_words && in_a_word)) continue;
    add(piece, gap, run.begin, out);
    add_groups(piece, run, out);
    gap = run.end;
  }
  add(piece, gap, piece.size(), out);
}

// Cuts at places only, so what stands before the first full group or after a run stays joined to it.
void split_before_groups(std::string_view piece, Pieces& out) {
  Run run;
  std::size_t gap = 0;
  for (std::size_t at = 0; at < piece.size(); at = run.end) {
    next_run(piece, at, is_decimal_digit, run);
    for (std::size_t i = run.starts.size() % 3; i < run.starts.size(); i += 3) {
      add(piece, gap, run.starts[i], out);
      gap = run.starts[i];
    }
  }
  add(piece, gap, piece.size(), out);
}

void split_trailing_space(std::string_view piece, Pieces& out) {
  std::size_t tail = 0;
  for (std::size_t at = 0; at < piece.size();) {
    const DecodedCharacter next = decode_utf8(piece, at);
    at += static_cast<std::size_t>(next.length);
    if (!is_white_space(next.value)) tail = at;
  }
  add(piece, 0, tail, out);
  add(piece, tail, piece.size(), out);
}

void split_space_run(std::string_view piece, Pieces& out) {
  constexpr std::array<std::size_t, 9> kSizes = {512, 256, 128, 64, 32, 16, 8, 4, 2};
  Run run;
  next_run(piece, 0, is_white_space, run);
  const bool alone = run.begin == 0 && run.end == piece.size() && piece.find_first_of("\r\n") == std::string_view::npos;
  if (!alone) return add(piece, 0, piece.size(), out);
  for (std::size_t i = 0; i < run.starts.size();) {
    const std::size_t left = run.starts.size() - i;
    const auto* size = std::find_if(kSizes.begin(), kSizes.end(), [&](std::size_t s) { return s <= left; });
    const std::size_t next = i + (size == kSizes.end() ? 1 : *size);
    add(piece, run.starts[i], next < run.starts.size() ? run.starts[next] : run.end, out);
    i = next;
  }
}

}  // namespace

void split_by_rule(StepKind kind, std::string_view piece, std::vector<std::string_view>& out) {
  switch (kind) {
    case StepKind::kPattern:
      return out.push_back(piece);
    case StepKind::kTrailingSpace:
      return split_trailing_space(piece, out);
    case StepKind::kNumberGroups:
      return split_number_groups(piece, is_number, false, out);
    case StepKind::kWholeNumbers:
      return split_number_groups(piece, is_decimal_digit, true, out);
    case StepKind::kDigitGroups:
      return split_before_groups(piece, out);
    case StepKind::kSpaceRuns:
      return split_space_run(piece, out);
  }
}

}  // namespace plait
