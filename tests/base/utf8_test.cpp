// UTF-8: decoding, encoding, and what is held back of text that is still arriving.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace plait {
namespace {

TEST(Utf8, DecodesWhatItEncodes) {
  for (char32_t value = 0; value < 0x110000; value += value < 0x3000 ? 1 : 7) {
    if (value >= 0xD800 && value < 0xE000) continue;
    std::string text;
    append_utf8(text, value);
    const DecodedCharacter back = decode_utf8(text, 0);
    ASSERT_TRUE(back.valid) << static_cast<unsigned>(value);
    ASSERT_EQ(back.value, value);
    ASSERT_EQ(static_cast<std::size_t>(back.length), text.size());
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndValuesBeyondUnicode) {
  for (const char* text : {"\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\x80", "\xFF", "\xC3(", "\xE2\x82("}) {
    EXPECT_FALSE(decode_utf8(text, 0).valid) << text;
    EXPECT_FALSE(decode_utf8(text, 0).unfinished) << text;
  }
}

TEST(Utf8, HoldsBackOnlyWhatCanStillBecomeACharacter) {
  EXPECT_EQ(unfinished_tail(""), 0u);
  EXPECT_EQ(unfinished_tail("abc"), 0u);
  EXPECT_EQ(unfinished_tail("a\xC3"), 1u);
  EXPECT_EQ(unfinished_tail("a\xE2\x82"), 2u);
  EXPECT_EQ(unfinished_tail("a\xF0\x9F\x98"), 3u);
  EXPECT_EQ(unfinished_tail("a\xF0\x9F\x98\x80"), 0u);
  EXPECT_EQ(unfinished_tail("a\xE0\x80"), 0u);  // Overlong whatever follows.
  EXPECT_EQ(unfinished_tail("a\xFF"), 0u);
  EXPECT_EQ(unfinished_tail("\x80\x80\x80\x80"), 0u);
}

TEST(Utf8, ReplacesEachLongestBrokenBeginOnce) {
  EXPECT_EQ(replace_invalid_utf8("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(replace_invalid_utf8("\xFF\xFE"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("\xE4\xBD\xA0"), "\xE4\xBD\xA0");
}

}  // namespace
}  // namespace plait
