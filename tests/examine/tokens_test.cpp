// What the commands tokenize and detokenize do, line by line.
#include "examine/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden_lines.h"

namespace plait {
namespace {

using testing::HasSubstr;

std::unique_ptr<Tokenizer> smollm() {
  std::vector<std::string> notes;
  auto opened = open_tokenizer(golden_path("tokenizers/smollm/vocab.gguf"), "", &notes);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  EXPECT_TRUE(notes.empty());
  return opened ? std::move(*opened) : nullptr;
}

TEST(Tokens, AnswersALineWithTheIdsOfItsText) {
  const auto t = smollm();
  ASSERT_NE(t, nullptr);
  const auto line = [&](const char* text) { return *tokenize_line(*t, text, {}); };
  EXPECT_EQ(line(R"({"text":"<|im_start|>"})"), "[1]");
  EXPECT_EQ(line(R"({"hex":"3c7c696d5f73746172747c3e"})"), "[1]");
  EXPECT_EQ(line(R"({"text":"<|im_start|>","parse_special":false})"), "[44,108,306,79,3738,108,46]");
  EXPECT_EQ(line(R"({"text":""})"), "[]");
}

TEST(Tokens, SaysWhatIsWrongWithALine) {
  const auto t = smollm();
  ASSERT_NE(t, nullptr);
  const std::pair<const char*, const char*> cases[] = {{"{", "line"},
                                                       {"[]", "no JSON object"},
                                                       {"{}", "neither \"text\" nor \"hex\""},
                                                       {R"({"text":1})", "neither"},
                                                       {R"({"hex":"4"})", "two digits a byte"},
                                                       {R"({"hex":"zz"})", "two digits a byte"},
                                                       {R"({"text":"a","add_special":1})", "neither true nor false"}};
  for (const auto& [line, message] : cases) {
    const auto answer = tokenize_line(*t, line, {});
    ASSERT_FALSE(answer) << line;
    EXPECT_THAT(answer.error().message, HasSubstr(message));
  }
}

TEST(Tokens, AnswersALineOfIdsWithTheirBytes) {
  const auto t = smollm();
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(*detokenize_line(*t, "[44,1,46]", {}), "{\"hex\":\"3c3c7c696d5f73746172747c3e3e\"}");
  EXPECT_EQ(*detokenize_line(*t, "[44,1,46]", {.special = false}), "{\"hex\":\"3c3e\"}");
  for (const char* line : {"[1", "{}", "[1.5]", "[-1]", "[99999999999]", "[49152]", "[\"1\"]"}) {
    EXPECT_FALSE(detokenize_line(*t, line, {})) << line;
  }
}

TEST(Tokens, DropsTheFirstSpaceOfSentencePieceOnly) {
  std::vector<std::string> notes;
  const auto mistral = open_tokenizer(golden_path("tokenizers/mistral-spm/vocab.gguf"), "", &notes);
  ASSERT_TRUE(mistral) << mistral.error().message;
  const auto other = smollm();
  ASSERT_NE(other, nullptr);
  for (const Tokenizer* t : {mistral->get(), other.get()}) {
    const auto ids = t->encode(" a", {.add_special = false});
    ASSERT_TRUE(ids);
    EXPECT_EQ(*detokenize(*t, *ids, {.drop_first_space = true}), " a");
  }
}

TEST(Tokens, CutsTextIntoAJsonArray) {
  const auto splitter = PreTokenizer::make("smollm");
  ASSERT_TRUE(splitter);
  EXPECT_EQ(*split_to_json(*splitter, "a \"12\""), R"(["a"," \"","1","2","\""])");
  EXPECT_EQ(*split_line(*splitter, R"({"text":"it's"})"), R"(["it","'s"])");
  EXPECT_TRUE(split_to_json(*splitter, "\xED\xA0\x80"));
}

}  // namespace
}  // namespace plait
