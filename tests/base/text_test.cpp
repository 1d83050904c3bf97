// printable(): what it escapes and what it leaves.
#include "base/text.h"

#include <string>

#include <gtest/gtest.h>

namespace plait {
namespace {

TEST(Printable, LeavesOrdinaryTextOfAnyLanguageAlone) {
  for (const std::string text : {"", "blk.0.attn_q.weight", "grüße", "日本語", "a\\b", "👩‍👩‍👧"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text));
  }
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  const struct {
    std::string text, shown;
  } cases[] = {
      {"\x1b[2Jx", "\\x1b[2Jx"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"a\nb\rc\td", "a\\nb\\rc\\td"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\u{9b}31m"},
      {"\xe2\x80\xae"
       "abc",
       "\\u{202e}abc"},
      {"\xe2\x81\xa6", "\\u{2066}"},
      {"\xe2\x80\xa8", "\\u{2028}"},
      {"\xef\xbb\xbf", "\\u{feff}"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(printable(c.text), c.shown);
    EXPECT_FALSE(is_printable(c.text));
  }
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // Cut off.
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // A surrogate.
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // Overlong.
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // Above U+10FFFF.
}

TEST(Printable, OfAnyTwoBytesIsPrintableItself) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b)};
      EXPECT_TRUE(is_printable(printable(text))) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace plait
