// ReasoningSplitter: tables, every way to cut a text, and random texts against a search over the whole of it.
#include "server/reasoning.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "server/generate.h"

namespace plait {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

struct Outcome {
  std::string text, reasoning;
  bool operator==(const Outcome&) const = default;
};
void PrintTo(const Outcome& outcome, std::ostream* out) { *out << outcome.text << " | " << outcome.reasoning; }

std::string without_first(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return std::string(text);
}

std::string without_last(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of(kSpaces) + 1));
}

// The definition, with the whole text at hand.
Outcome search(std::string text, bool on, bool starts_inside) {
  if (!on) return {text, ""};
  if (!starts_inside) {
    const std::string rest = without_first(text);
    if (!rest.starts_with("<think>")) return {text, ""};
    text = rest.substr(7);
  }
  const std::size_t end = text.find("</think>");
  if (end == std::string::npos) return {"", without_first(text)};
  return {without_first(text.substr(end + 8)), without_first(without_last(text.substr(0, end)))};
}

Outcome feed(const std::vector<std::string>& pieces, bool on, bool starts_inside) {
  ReasoningSplitter splitter(on, starts_inside);
  Outcome outcome;
  for (const std::string& piece : pieces) {
    const auto parts = splitter.add(piece);
    EXPECT_TRUE(parts.reasoning.empty() || outcome.text.empty()) << "reasoning comes first";
    outcome.text += parts.text, outcome.reasoning += parts.reasoning;
  }
  const auto rest = splitter.finish();
  outcome.text += rest.text, outcome.reasoning += rest.reasoning;
  return outcome;
}

struct Case {
  std::string text;
  bool on, starts_inside;
  Outcome expected;
};

std::vector<Case> cases() {
  return {
      {"<think>a</think>b", false, false, {"<think>a</think>b", ""}},
      {"<think>a</think>b", true, false, {"b", "a"}},
      {"\n <think>\na\n</think>\n\nb\n", true, false, {"b\n", "a"}},
      {"<think></think>b", true, false, {"b", ""}},
      {"<think>\n\n</think>\n\nb", true, false, {"b", ""}},
      {"a</think> b", true, true, {"b", "a"}},
      {" a < b </ c ", true, true, {"", "a < b </ c "}},
      {"<think>a</thin", true, false, {"", "a</thin"}},
      {"<thin", true, false, {"<thin", ""}},
      {"  b <think>a</think>", true, false, {"  b <think>a</think>", ""}},
      {"<think>a</think>b<think>c</think>", true, false, {"b<think>c</think>", "a"}},
      {"<think>a</think>b</think>", true, false, {"b</think>", "a"}},
      {"<think>a<</think>\n", true, false, {"", "a<"}},
      {" \n", true, false, {" \n", ""}},
      {"", true, true, {"", ""}},
  };
}

TEST(ReasoningSplitter, PartsWhatIsThoughtFromWhatIsSaid) {
  for (const Case& c : cases()) {
    EXPECT_EQ(feed({c.text}, c.on, c.starts_inside), c.expected) << c.text;
    EXPECT_EQ(search(c.text, c.on, c.starts_inside), c.expected) << c.text;
  }
}

TEST(ReasoningSplitter, DoesNotDependOnWhereATextIsCutInThree) {
  for (const Case& c : cases()) {
    for (std::size_t i = 0; i <= c.text.size(); ++i) {
      for (std::size_t k = i; k <= c.text.size(); ++k) {
        const std::vector<std::string> pieces{c.text.substr(0, i), c.text.substr(i, k - i), c.text.substr(k)};
        ASSERT_EQ(feed(pieces, c.on, c.starts_inside), c.expected) << c.text << ", cut at " << i << " and " << k;
      }
    }
  }
}

TEST(ReasoningSplitter, DoesNotDependOnAnyCutOfAShortText) {
  const std::string text = "<think> a </think> b";
  for (unsigned cuts = 0; cuts < 1u << (text.size() - 1); ++cuts) {
    std::vector<std::string> pieces{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
      pieces.back().push_back(text[i]);
      if ((cuts >> i & 1u) != 0) pieces.emplace_back();
    }
    ASSERT_EQ(feed(pieces, true, false), (Outcome{"b", "a"})) << cuts;
  }
}

TEST(ReasoningSplitter, AgreesWithASearchOverTheWholeText) {
  const std::string_view words[] = {"<think>", "</think>", "<", "/", "think>", "<th", "</", " ", "\n", "a", "\xc3\xa9"};
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    std::uint64_t draws = 0;
    const auto draw = [&](std::uint64_t most) { return random_bits(seed, draws++) % most; };
    std::string text;
    for (std::uint64_t n = draw(9); n > 0; --n) text += words[draw(std::size(words))];
    std::vector<std::string> pieces{""};
    for (const char c : text) {
      pieces.back().push_back(c);
      if (draw(3) == 0) pieces.emplace_back();
    }
    const bool inside = draw(2) == 0;
    ASSERT_EQ(feed(pieces, true, inside), search(text, true, inside)) << seed << ": " << text;
  }
}

TEST(ReasoningSplitter, HandsOutReasoningBeforeItIsOver) {
  ReasoningSplitter splitter(true, false);
  EXPECT_EQ(splitter.add("<think>\nFirst").reasoning, "First");
  EXPECT_EQ(splitter.add(" then ").reasoning, " then");
  EXPECT_EQ(splitter.add("a <").reasoning, " a");
  EXPECT_EQ(splitter.add(" b").reasoning, " < b");
  EXPECT_EQ(splitter.add("</think>\n").reasoning, "");
  EXPECT_EQ(splitter.add("so").text, "so");
  EXPECT_EQ(splitter.add(" it is ").text, " it is ");
}

TEST(EndsInReasoning, LooksAtTheLastTag) {
  EXPECT_TRUE(ends_in_reasoning("<|im_start|>assistant\n<think>\n"));
  EXPECT_TRUE(ends_in_reasoning("<think>"));
  EXPECT_FALSE(ends_in_reasoning("<think>\n\n</think>\n\n"));
  EXPECT_FALSE(ends_in_reasoning("<think> now"));
  EXPECT_FALSE(ends_in_reasoning(""));
}

}  // namespace
}  // namespace plait
