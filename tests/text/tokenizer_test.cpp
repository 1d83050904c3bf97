// Tokenizer: special tokens, BOS and EOS, ends, kinds, on vocabularies of a few tokens; and vocabularies that are
// wrong.
#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "text/byte_letters.h"

namespace plait {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<Token>;

void add(Vocabulary& vocabulary, std::string text, TokenType type = TokenType::kNormal, float score = 0) {
  vocabulary.tokens.push_back(std::move(text));
  vocabulary.types.push_back(type);
  vocabulary.scores.push_back(score);
}

Token id_of(const Vocabulary& vocabulary, std::string_view text) {
  const auto found = std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), text);
  return found == vocabulary.tokens.end() ? -1 : static_cast<Token>(found - vocabulary.tokens.begin());
}

// 256 bytes, "ab", " ab", a control token, a user-defined one and one that contains it.
Vocabulary small_bpe() {
  Vocabulary v;
  v.model = "gpt2";
  v.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    add(v, bytes_to_letters({&text, 1}));
  }
  add(v, "ab");
  add(v, "Ġab");
  add(v, "<|im_end|>", TokenType::kControl);
  add(v, "<tool>", TokenType::kUserDefined);
  add(v, "<tool><b>", TokenType::kUserDefined);
  v.scores.clear();
  v.merges = {"a b", "Ġ ab"};
  v.bos = v.eos = id_of(v, "<|im_end|>");
  return v;
}

// <unk>, <s>, </s>, 256 byte tokens, then pieces with scores.
Vocabulary small_spm() {
  Vocabulary v;
  v.model = "llama";
  add(v, "<unk>", TokenType::kUnknown);
  add(v, "<s>", TokenType::kControl);
  add(v, "</s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    add(v,
        {'<', '0', 'x', kDigits[static_cast<std::size_t>(byte / 16)], kDigits[static_cast<std::size_t>(byte % 16)],
         '>'},
        TokenType::kByte);
  }
  for (const char* text : {"▁", "a", "b", "c"}) add(v, text, TokenType::kNormal, -10);
  add(v, "ab", TokenType::kNormal, -2);
  add(v, "bc", TokenType::kNormal, -1);
  add(v, "▁a", TokenType::kNormal, -3);
  v.unknown = 0, v.bos = 1, v.eos = 2;
  return v;
}

std::unique_ptr<Tokenizer> make(Vocabulary vocabulary) {
  auto made = make_tokenizer(std::move(vocabulary));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, bool add_special = false, bool parse_special = false) {
  const auto ids = tokenizer.encode(text, {.add_special = add_special, .parse_special = parse_special});
  EXPECT_TRUE(ids) << (ids ? "" : ids.error().message);
  return ids ? *ids : Ids{};
}

TEST(Tokenizer, MatchesUserDefinedTokensInPlainTextAndControlTokensOnlyWhenAsked) {
  const auto t = make(small_bpe());
  EXPECT_THAT(encode(*t, "a<tool>b"), ElementsAre('a', 259, 'b'));
  EXPECT_EQ(encode(*t, "<|im_end|>").size(), 10u);
  EXPECT_THAT(encode(*t, "a<|im_end|>", false, true), ElementsAre('a', 258));
}

TEST(Tokenizer, TakesTheLongestSpecialTokenAtAPlace) {
  const auto t = make(small_bpe());
  EXPECT_THAT(encode(*t, "<tool><b>"), ElementsAre(260));
  EXPECT_THAT(encode(*t, "<tool><tool><b>"), ElementsAre(259, 260));
}

TEST(Tokenizer, MergesByRankAcrossTheBytesOfAPiece) {
  const auto t = make(small_bpe());
  EXPECT_THAT(encode(*t, "ab ab"), ElementsAre(256, 257));
  EXPECT_THAT(encode(*t, ""), ElementsAre());
}

TEST(Tokenizer, AddsBosAndEosAsTheFileOrTheFamilySays) {
  Vocabulary v = small_bpe();
  EXPECT_THAT(encode(*make(v), "ab", true), ElementsAre(256));  // gpt-2 adds none.
  v.add_bos = 1;
  v.add_eos = 1;
  EXPECT_THAT(encode(*make(v), "ab", true), ElementsAre(258, 256, 258));
  EXPECT_TRUE(make(v)->adds_bos());
  v.add_bos = v.add_eos = -1;
  v.pre = "llama-bpe";
  EXPECT_THAT(encode(*make(v), "ab", true), ElementsAre(258, 256));
  v.add_bos = 0;
  EXPECT_THAT(encode(*make(v), "ab", true), ElementsAre(256));
  EXPECT_THAT(encode(*make(small_spm()), "", true), ElementsAre(1));
}

TEST(Tokenizer, NotesThatAFileNamesNoPreTokenizer) {
  Vocabulary v = small_bpe();
  v.pre.clear();
  std::vector<std::string> notes;
  ASSERT_TRUE(make_tokenizer(v, &notes));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("tokenizer.ggml.pre")));
}

TEST(Tokenizer, IgnoresMergesForPiecesThatAreTokensWhereTheFamilyDoes) {
  Vocabulary v = small_bpe();
  add(v, "xyz");
  v.scores.clear();
  EXPECT_EQ(encode(*make(v), "xyz").size(), 3u);
  v.pre = "llama-bpe";
  EXPECT_THAT(encode(*make(v), "xyz"), ElementsAre(261));
}

TEST(Tokenizer, NeverMakesAControlTokenOutOfPlainText) {
  Vocabulary v = small_bpe();
  v.pre = "llama-bpe";
  add(v, "stop", TokenType::kControl);
  v.scores.clear();
  v.merges.insert(v.merges.end(), {"s t", "o p", "st op"});
  const auto t = make(v);
  EXPECT_THAT(encode(*t, "stop"), ElementsAre('s', 't', 'o', 'p'));
  EXPECT_THAT(encode(*t, "stop", false, true), ElementsAre(261));
}

TEST(Tokenizer, NormalizesToNfcForTheQwenFamiliesOnly) {
  Vocabulary v = small_bpe();
  const Ids composed = encode(*make(v), "\xC3\xA9");
  EXPECT_NE(encode(*make(v), "e\xCC\x81"), composed);
  v.pre = "qwen2";
  EXPECT_EQ(encode(*make(v), "e\xCC\x81"), composed);
  // Marks in the wrong order are put right; 200,000 of them in no time.
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += "\xCC\x81\xCC\xA3";
  EXPECT_EQ(encode(*make(v), marks).size(), 200000u * 2 + 1);
}

TEST(Tokenizer, EndsWithTheTokensThatKeysNameAndThoseSpeltLikeAnEnd) {
  Vocabulary v = small_bpe();
  add(v, "<|endoftext|>");  // Normal in the file, an end by its spelling.
  add(v, "</s>");           // An HTML tag unless the file calls it control.
  add(v, "<|fim_pad|>", TokenType::kControl);
  add(v, "<|repo_name|>", TokenType::kControl);
  add(v, "<|end|>", TokenType::kControl);
  v.scores.clear();
  v.eot = id_of(v, "<tool>");
  const auto t = make(v);
  EXPECT_TRUE(t->is_end(v.eos));
  EXPECT_TRUE(t->is_end(v.eot));
  EXPECT_TRUE(t->is_end(id_of(v, "<|endoftext|>")));
  EXPECT_TRUE(t->is_end(id_of(v, "<|end|>")));
  for (const char* text : {"</s>", "<|fim_pad|>", "<|repo_name|>", "ab"})
    EXPECT_FALSE(t->is_end(id_of(v, text))) << text;
  EXPECT_FALSE(t->is_end(-1));
  add(v, "<|return|>", TokenType::kControl);
  add(v, "<|call|>", TokenType::kControl);
  v.scores.clear();
  EXPECT_FALSE(make(v)->is_end(id_of(v, "<|end|>")));
}

TEST(Tokenizer, SpellsSpecialTokensOnlyWhenAsked) {
  const auto t = make(small_bpe());
  EXPECT_EQ(t->piece(258, true), "<|im_end|>");
  EXPECT_EQ(t->piece(258, false), "");
  EXPECT_EQ(t->piece(259, false), "<tool>");
  EXPECT_EQ(t->piece(257, false), " ab");
  EXPECT_EQ(t->piece(-1, true), "");
  EXPECT_EQ(t->piece(100000, true), "");
}

TEST(SentencePiece, MergesTheBestScoreFirstAndOfEqualsTheLeftmost) {
  const Vocabulary v = small_spm();
  const auto t = make(v);
  EXPECT_EQ(encode(*t, "abc"), (Ids{id_of(v, "▁a"), id_of(v, "bc")}));
  EXPECT_EQ(encode(*t, "xab"), (Ids{id_of(v, "▁"), id_of(v, "<0x78>"), id_of(v, "ab")}));
}

TEST(SentencePiece, PutsASpaceBeforeTextThatBeginsUnlessTheFileSaysNo) {
  Vocabulary v = small_spm();
  const auto t = make(v);
  EXPECT_TRUE(t->drops_first_space());
  EXPECT_EQ(encode(*t, "a</s>a", false, true), (Ids{id_of(v, "▁a"), 2, id_of(v, "▁a")}));
  v.add_space_prefix = 0;
  const auto bare = make(v);
  EXPECT_FALSE(bare->drops_first_space());
  EXPECT_EQ(encode(*bare, "a"), (Ids{id_of(v, "a")}));
}

TEST(SentencePiece, TakesTheUnknownTokenWhereByteTokensAreMissing) {
  Vocabulary v = small_spm();
  v.tokens[3 + 0x78] = "other";
  v.types[3 + 0x78] = TokenType::kNormal;
  EXPECT_EQ(encode(*make(v), "x"), (Ids{id_of(v, "▁"), 0}));
}

TEST(WordPiece, CutsWordsFromTheLeftOrCallsThemUnknown) {
  Vocabulary v;
  v.model = "bert";
  for (const char* text : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) add(v, text, TokenType::kControl);
  for (const char* text : {"▁un", "able", "▁a", "▁,"}) add(v, text);
  v.scores.clear();
  const auto t = make(v);
  EXPECT_THAT(encode(*t, "\xC3\x9Cnable, A", true), ElementsAre(2, 4, 5, 7, 6, 3));
  EXPECT_THAT(encode(*t, "UNABLE unzip,"), ElementsAre(4, 5, 1, 7));
  EXPECT_EQ(t->piece(4, false), " un");
}

TEST(World, TakesTheLongestToken) {
  Vocabulary v;
  v.model = "rwkv";
  add(v, "<s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    add(v, {'\\', 'x', kDigits[static_cast<std::size_t>(byte / 16)], kDigits[static_cast<std::size_t>(byte % 16)]});
  }
  add(v, "ab");
  add(v, "abcd");
  add(v, "\\n\\n");
  v.scores.clear();
  const auto t = make(v);
  EXPECT_THAT(encode(*t, "abc"), ElementsAre(257, 'c' + 1));
  EXPECT_THAT(encode(*t, "abcd\n\n\xFF"), ElementsAre(258, 259, 256));
  EXPECT_EQ(encode(*t, "<s>").size(), 3u);
  EXPECT_EQ(t->piece(259, false), "\n\n");
  v.tokens[66] = "??";
  const auto broken = make_tokenizer(v);
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("tokenizer.ggml.tokens: the token of byte 0x41 is missing"));
}

struct WrongVocabulary {
  const char* what;
  void (*break_it)(Vocabulary&);
  const char* message;
};

TEST(Tokenizer, RefusesVocabulariesThatBreakTheirRulesAndNamesTheKey) {
  const WrongVocabulary cases[] = {
      {"no tokens", [](Vocabulary& v) { v.tokens.clear(), v.types.clear(); },
       "tokenizer.ggml.tokens: there are no tokens"},
      {"twice", [](Vocabulary& v) { v.tokens[7] = v.tokens[5]; },
       "tokenizer.ggml.tokens: token 7 is spelt as an earlier"},
      {"types", [](Vocabulary& v) { v.types.pop_back(); }, "tokenizer.ggml.token_type: 260 entries for the 261"},
      {"scores", [](Vocabulary& v) { v.scores = {1}; }, "tokenizer.ggml.scores: 1 entries for the 261"},
      {"bos", [](Vocabulary& v) { v.bos = 261; }, "tokenizer.ggml.bos_token_id: 261 is no token id"},
      {"eot", [](Vocabulary& v) { v.eot = -2; }, "tokenizer.ggml.eot_token_id: -2 is no token id"},
      {"mask", [](Vocabulary& v) { v.mask = 1 << 30; }, "tokenizer.ggml.mask_token_id"},
      {"more ends", [](Vocabulary& v) { v.more_end_tokens = {-1}; }, "tokenizer.ggml.eog_token_ids"},
      {"merge", [](Vocabulary& v) { v.merges[1] = "ab"; }, "tokenizer.ggml.merges: entry 1 is 2 bytes without a space"},
      {"half", [](Vocabulary& v) { v.merges[0] = "ab "; }, "tokenizer.ggml.merges: entry 0"},
      {"empty", [](Vocabulary& v) { v.merges[0] = ""; }, "tokenizer.ggml.merges: entry 0"},
      {"model", [](Vocabulary& v) { v.model = "t5"; }, "tokenizer.ggml.model: 't5' is not known; known are gpt2"},
      {"pre", [](Vocabulary& v) { v.pre = "x"; }, "tokenizer.ggml.pre: pre-tokenizer 'x' is not known"},
      {"bos asked", [](Vocabulary& v) { v.bos = -1, v.add_bos = 1; }, "tokenizer.ggml.add_bos_token"},
      {"eos asked", [](Vocabulary& v) { v.eos = -1, v.add_eos = 1; }, "tokenizer.ggml.add_eos_token"},
      {"no bytes",
       [](Vocabulary& v) {
         for (auto& text : v.tokens) text.append(" long");
       },
       "single-byte tokens"},
      {"no scores", [](Vocabulary& v) { v = small_spm(), v.scores.clear(); }, "tokenizer.ggml.scores: missing"},
      {"NaN", [](Vocabulary& v) { v = small_spm(), v.scores[9] = NAN; },
       "tokenizer.ggml.scores: entry 9 is not a number"},
      {"no byte token",
       [](Vocabulary& v) { v = small_spm(), v.types[0] = v.types[3 + 0x41] = TokenType::kNormal, v.unknown = -1; },
       "byte token <0x41> is missing"},
      {"no [UNK]", [](Vocabulary& v) { v.model = "bert"; }, "tokenizer.ggml.unknown_token_id: missing"}};
  for (const WrongVocabulary& each : cases) {
    Vocabulary v = small_bpe();
    each.break_it(v);
    const auto made = make_tokenizer(v);
    ASSERT_FALSE(made) << each.what;
    EXPECT_THAT(made.error().message, HasSubstr(each.message)) << each.what;
  }
}

// The piece is one of a megabyte, so this is the merge itself; all kinds, in a few seconds of the processor.
TEST(Tokenizer, TakesAMegabyteOfOneLetter) {
  Vocabulary bpe = small_bpe();
  bpe.merges.clear();
  for (std::string run = "a"; run.size() < 4096; run += run) {
    add(bpe, run + run);
    std::string merge = run;
    bpe.merges.push_back(merge.append(1, ' ').append(run));
  }
  bpe.scores.clear();
  Vocabulary spm = small_spm();
  for (std::string run = "aa"; run.size() < 4096; run += run) add(spm, run, TokenType::kNormal, -0.5F);
  const std::string text(1 << 20, 'a');
  for (const Vocabulary& v : {bpe, spm}) {
    const auto t = make(v);
    const std::clock_t start = std::clock();
    const Ids ids = encode(*t, text);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10);
    EXPECT_LT(ids.size(), 1000u);
    std::string back;
    for (const Token id : ids) back += t->piece(id, false);
    EXPECT_EQ(back.substr(back.size() - text.size()), text);
  }
}

}  // namespace
}  // namespace plait
