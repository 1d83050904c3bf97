// Detokenizer: no half character leaves it, and nothing is lost.
#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace plait {
namespace {

// A byte a token: the hardest case for a stream of characters.
std::unique_ptr<Tokenizer> byte_tokenizer() {
  Vocabulary v;
  v.model = "llama";
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    v.tokens.push_back({'<', '0', 'x', kDigits[static_cast<std::size_t>(byte / 16)],
                        kDigits[static_cast<std::size_t>(byte % 16)], '>'});
    v.types.push_back(TokenType::kByte);
  }
  v.tokens.push_back("<s>");
  v.types.push_back(TokenType::kControl);
  v.scores.resize(v.tokens.size());
  auto made = make_tokenizer(std::move(v));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return std::move(*made);
}

std::string stream(Detokenizer& detokenizer, std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const std::string shown = detokenizer.add(static_cast<unsigned char>(byte));
    EXPECT_EQ(replace_invalid_utf8(shown), shown);
    text += shown;
  }
  return text;
}

TEST(Detokenizer, HoldsBackHalfCharacters) {
  const auto tokenizer = byte_tokenizer();
  Detokenizer detokenizer(*tokenizer, false, false);
  EXPECT_EQ(detokenizer.add(0xF0), "");
  EXPECT_EQ(detokenizer.add(0x9F), "");
  EXPECT_EQ(detokenizer.add(0x98), "");
  EXPECT_EQ(detokenizer.add(0x80), "\xF0\x9F\x98\x80");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, ReplacesWhatCanNeverBecomeACharacter) {
  const auto tokenizer = byte_tokenizer();
  Detokenizer detokenizer(*tokenizer, false, false);
  EXPECT_EQ(stream(detokenizer, "a\xC3(\xFF\xE2\x82"), "a\xEF\xBF\xBD(\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, ShowsTheSameTextHoweverItIsCut) {
  const auto tokenizer = byte_tokenizer();
  const std::string text = "na\xC3\xAFve \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80!\xED\xA0\x80.";
  Detokenizer detokenizer(*tokenizer, false, false);
  const std::string shown = stream(detokenizer, text) + detokenizer.finish();
  EXPECT_EQ(shown, replace_invalid_utf8(text));
}

TEST(Detokenizer, DropsOneSpaceAtTheVeryBeginning) {
  const auto tokenizer = byte_tokenizer();
  Detokenizer plain(*tokenizer, false, true), spelt(*tokenizer, true, true);
  EXPECT_EQ(plain.add(256), "");  // <s>, silent: the text has not begun.
  EXPECT_EQ(stream(plain, "  a b"), " a b");
  EXPECT_EQ(spelt.add(256), "<s>");
  EXPECT_EQ(stream(spelt, " a"), " a");
}

}  // namespace
}  // namespace plait
