// Pre-tokenizers as data: for each name of tokenizer.ggml.pre its family, for each family the steps that cut a text.
#pragma once

#include <span>
#include <string_view>

namespace plait {

enum class StepKind {
  kPattern,        // Matches of the pattern and the gaps between them become pieces.
  kTrailingSpace,  // White space at the very end: \s+$ without trying every start.
  kNumberGroups,   // Runs of \p{N}: threes counted from the right.
  kDigitGroups,   // Runs of \p{Nd}: cut before every group of three counted from the right, the rest stays where it is.
  kWholeNumbers,  // Runs of \p{Nd} that end at a word boundary: threes counted from the right; others stay whole.
  kSpaceRuns,     // Pieces of white space alone, without line ends: powers of two from 512 down to 4, then 1 or 2.
};

struct SplitStep {
  StepKind kind = StepKind::kPattern;
  std::string_view pattern = {};  // PCRE2 syntax, with UTF and UCP.
};

// Each step cuts the pieces that the step before has left.
struct PreFamily {
  std::string_view name;
  std::span<const SplitStep> steps;
  bool byte_level = true;  // Pieces are written in byte letters before they are merged.
  bool nfc = false;        // The maker normalizes to NFC first.
};

struct PreName {
  std::string_view name;
  std::string_view family;
  bool ignore_merges = false;  // A piece that is one token is that token, whatever the merges say.
  bool add_bos = false;        // Unless the file says otherwise.
  bool escape_spaces = false;  // A space is written as U+2581.
};

std::span<const PreFamily> pre_families();
std::span<const PreName> pre_names();
const PreFamily* find_pre_family(std::string_view name);
const PreName* find_pre_name(std::string_view name);

}  // namespace plait
