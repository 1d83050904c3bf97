// StopMatcher: tables, every way to cut a text into pieces, and a random comparison with a slow search.
#include "decode/stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace plait {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::string shown;
  bool stopped = false;
  std::string found = {};
  bool operator==(const Outcome&) const = default;
};

// The definition: after each byte, is a stop string complete? Of several the longest; the text ends before it.
Outcome slow_search(const std::string& text, const std::vector<std::string>& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const std::string_view seen = std::string_view(text).substr(0, end);
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (seen.ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return {std::string(seen.substr(0, end - longest)), true, std::string(seen.substr(end - longest))};
  }
  return {text, false};
}

// Feeds the pieces; checks on the way that nothing shown is ever taken back or part of a stop string.
Outcome feed(const std::vector<std::string>& pieces, const std::vector<std::string>& stops) {
  StopMatcher matcher(stops);
  Outcome outcome;
  for (const std::string& piece : pieces) outcome.shown += matcher.add(piece);
  outcome.stopped = matcher.stopped();
  outcome.found = matcher.found();
  outcome.shown += matcher.finish();
  return outcome;
}

TEST(StopMatcher, EndsTheTextBeforeTheFirstCompleteStopString) {
  struct Case {
    std::string text;
    std::vector<std::string> stops;
    Outcome expected;
  };
  const Case cases[] = {
      {"hello", {}, {"hello", false}},
      {"", {"x"}, {"", false}},
      {"one\nUser: two", {"\nUser:"}, {"one", true, "\nUser:"}},
      {"one\nUser", {"\nUser:"}, {"one\nUser", false}},  // Held back, shown at the end.
      {"aaab", {"aab"}, {"a", true, "aab"}},             // The matcher goes back into what it matched.
      {"abcd", {"abcdx", "bc"}, {"a", true, "bc"}},
      {"abcd", {"d", "cd", "bcd"}, {"a", true, "bcd"}},  // At the same place: the longest.
      {"x\xe2\x82\xacy", {"\xe2\x82\xac"}, {"x", true, "\xe2\x82\xac"}},
      {"x\xe2\x82\xadx", {"\xe2\x82\xac"}, {"x\xe2\x82\xadx", false}},
      {"stop", {"stop"}, {"", true, "stop"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(feed({c.text}, c.stops), c.expected) << c.text;
    EXPECT_EQ(slow_search(c.text, c.stops), c.expected) << c.text;
  }
}

TEST(StopMatcher, ShowsNothingThatCouldBeginAStopString) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.add("text <"), "text ");
  EXPECT_EQ(matcher.add("/e"), "");
  EXPECT_EQ(matcher.add("x <"), "</ex ");
  EXPECT_EQ(matcher.add("/end"), "");
  EXPECT_FALSE(matcher.stopped());
  EXPECT_EQ(matcher.add("> more"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.add("again"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, DoesNotDependOnHowTheTextIsCut) {
  const std::string text = "aabaabaaab";
  const std::vector<std::string> stops{"abaaa", "aaab"};
  const Outcome expected = slow_search(text, stops);
  for (unsigned cuts = 0; cuts < 512; ++cuts) {
    std::vector<std::string> pieces{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
      pieces.back().push_back(text[i]);
      if ((cuts >> i & 1u) != 0) pieces.emplace_back();
    }
    ASSERT_EQ(feed(pieces, stops), expected) << cuts;
  }
}

TEST(StopMatcher, AgreesWithASlowSearch) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::uint64_t draws = 0;
    auto word = [&](std::uint64_t most) {
      std::string w;
      for (std::uint64_t n = 1 + random_bits(seed, draws++) % most; n > 0; --n)
        w.push_back(static_cast<char>('a' + random_bits(seed, draws++) % 3));
      return w;
    };
    std::vector<std::string> stops, pieces;
    for (std::uint64_t n = random_bits(seed, draws++) % 4; n > 0; --n) stops.push_back(word(6));
    for (int n = 0; n < 8; ++n) pieces.push_back(word(5));
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    ASSERT_EQ(feed(pieces, stops), slow_search(text, stops)) << seed;
  }
}

TEST(StopStrings, AreRefusedByNumber) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"a", ""}, "stop string 2 is empty"},
      {{"\x80"}, "stop string 1 begins inside a UTF-8 character"},
      {{std::string(2000, 'a')}, "stop string 1 has 2000 bytes, at most 1024"},
      {std::vector<std::string>(65, "a"), "65 stop strings, at most 64"},
  };
  for (const auto& [stops, message] : cases) {
    const auto checked = check_stop_strings(stops);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr(message));
  }
  EXPECT_TRUE(check_stop_strings({"\n", "</s>"}));
}

}  // namespace
}  // namespace plait
