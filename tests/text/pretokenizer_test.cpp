// Pre-tokenizers: the tables, all golden splits, and the time that a long text takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <set>

#include "support/golden_lines.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace plait {
namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces split(std::string_view pre, std::string_view text) {
  const auto pieces = split_text(pre, text);
  EXPECT_TRUE(pieces) << (pieces ? "" : pieces.error().message);
  return pieces ? *pieces : Pieces{};
}

std::string join(const Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

TEST(PreTables, HoldEveryNameWithItsFamilyAndFlags) {
  const Json golden = read_golden_json("tokenizers/pre.json");
  EXPECT_EQ(pre_names().size(), golden["names"].size());
  EXPECT_EQ(pre_families().size(), golden["families"].size());
  for (const auto& [name, want] : golden["names"].items()) {
    const PreName* found = find_pre_name(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->family, want["family"].get<std::string>()) << name;
    EXPECT_EQ(found->ignore_merges, want.value("ignore_merges", false)) << name;
    EXPECT_EQ(found->add_bos, want.value("add_bos", false)) << name;
    EXPECT_EQ(found->escape_spaces, want.value("escape_whitespaces", false)) << name;
  }
  for (const auto& [name, want] : golden["families"].items()) {
    const PreFamily* found = find_pre_family(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->byte_level, want["byte_encode"].get<bool>()) << name;
  }
}

TEST(PreTokenizer, CutsEveryGoldenTextAsTheReferenceOrThePublishedPatternDoes) {
  const Json families = read_golden_json("tokenizers/pre.json")["families"];
  std::map<std::string, std::vector<Json>> rows;
  for (Json& row : read_golden_lines("tokenizers/splits.jsonl")) rows[row["family"]].push_back(std::move(row));
  std::set<std::string> done;
  for (const PreName& name : pre_names()) {
    const std::string family(name.family);
    if (!done.insert(family).second) continue;
    const std::vector<Json>& cases = rows[families[family].value("same_as", family)];
    EXPECT_GT(cases.size(), 100u) << family;
    for (const Json& each : cases) {
      const Pieces pieces = split(name.name, each["text"].get<std::string>());
      // Where a maker has published a pattern, it is followed.
      const Json& want = each.contains("published") ? each["published"] : each["pieces"];
      EXPECT_EQ(pieces, want.get<Pieces>()) << family << " " << each.dump();
    }
  }
  EXPECT_EQ(done.size(), pre_families().size());
}

TEST(PreTokenizer, NamesTheKnownOnesWhenItDoesNotKnowOne) {
  const auto made = split_text("no-such", "text");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(made.error().message, testing::HasSubstr("tokenizer.ggml.pre: pre-tokenizer 'no-such' is not known"));
  EXPECT_THAT(made.error().message, testing::HasSubstr("smollm"));
}

TEST(PreTokenizer, LetsSurrogatesPassAndReplacesWhatIsNoUtf8) {
  EXPECT_EQ(split("gpt-2", "a\xED\xA0\x80"), (Pieces{"a", "\xED\xA0\x80"}));
  EXPECT_EQ(split("gpt-2", "a \xFF"), (Pieces{"a", " \xEF\xBF\xBD"}));
  EXPECT_EQ(split("gpt-2", ""), Pieces{});
}

TEST(PreTokenizer, TakesU180EForNoWhiteSpace) {
  EXPECT_EQ(split("gpt-2", "  \xE1\xA0\x8E"), (Pieces{" ", " \xE1\xA0\x8E"}));
}

TEST(PreTokenizer, CutsSpaceRunsOfJais2InPowersOfTwo) {
  const auto spaces = [](std::size_t n) { return std::string(n, ' '); };
  EXPECT_EQ(split("jais-2", spaces(700)),
            (Pieces{spaces(512), spaces(128), spaces(32), spaces(16), spaces(8), spaces(4)}));
  EXPECT_EQ(split("jais-2", spaces(4) + "x"), (Pieces{spaces(2), spaces(1), " x"}));
  EXPECT_EQ(split("jais-2", spaces(20) + "\n"), (Pieces{spaces(20) + "\n"}));
}

TEST(PreTokenizer, CountsDigitsFromTheRightWhereTheFamilyDoes) {
  EXPECT_EQ(split("superbpe", "1234567"), (Pieces{"1", "234", "567"}));
  EXPECT_EQ(split("tiny_aya", "1234567"), (Pieces{"1", "234", "567"}));
  EXPECT_EQ(split("tiny_aya", "1234567x"), (Pieces{"123", "456", "7", "x"}));
  EXPECT_EQ(split("afmoe", "12345"), (Pieces{"12", "345"}));
}

TEST(PreTokenizer, KeepsHanApartFromOtherLettersInKimiK2) {
  EXPECT_EQ(split("kimi-k2", "abc中文def"), (Pieces{"abc", "中文", "def"}));
  EXPECT_EQ(split("kimi-k2", "aBc"), (Pieces{"a", "Bc"}));
}

// A pass over 1 MB takes well under a second in all families; a quadratic one would take minutes. The processor's time
// is measured, so that a busy machine does not matter.
TEST(PreTokenizer, NeedsTimeLinearInTheText) {
  constexpr std::size_t kSize = 1 << 20;
  constexpr double kMostSeconds = 8;
  std::map<std::string, std::string> texts;
  for (const char* unit :
       {" ", "7", "a", "A", "\n", "\t", "'", ".", " \n", "a1", "Aa", "\xCC\x81", "\xE4\xB8\xAD", "\xD9\xA3"}) {
    std::string& text = texts[unit];
    while (text.size() < kSize) text += unit;
  }
  for (const char* end : {"x", "\xD8\xA8", "\xC2\xBD"}) texts[std::string("spaces, then ") + end] = texts[" "] + end;
  texts["digits, then a letter"] = texts["7"] + "x";
  texts["digits, then a half"] = texts["7"] + "\xC2\xBD";
  std::set<const SplitStep*> seen;
  for (const PreName& name : pre_names()) {
    if (!seen.insert(find_pre_family(name.family)->steps.data()).second) continue;  // The same steps as an earlier one.
    for (const auto& [unit, text] : texts) {
      const std::clock_t start = std::clock();
      const Pieces pieces = split(name.name, text);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      EXPECT_LT(seconds, kMostSeconds) << name.name << " over 1 MB of '" << unit << "'";
      EXPECT_EQ(join(pieces), text) << name.name << " over 1 MB of '" << unit << "'";
    }
  }
}

}  // namespace
}  // namespace plait
