// Every vocabulary of the golden data: ids of all cases, bytes of all pieces, text as it streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/vocabulary_source.h"
#include "support/golden_lines.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace plait {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<Token>;

std::unique_ptr<Tokenizer> open_golden(const std::string& name, const std::string& pre = "") {
  auto file = open_model_file(golden_path("tokenizers/" + name + "/vocab.gguf"));
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  if (!file) return nullptr;
  auto vocabulary = read_vocabulary(**file);
  EXPECT_TRUE(vocabulary) << (vocabulary ? "" : vocabulary.error().message);
  if (!vocabulary) return nullptr;
  if (!pre.empty()) {
    vocabulary->pre = pre;
    vocabulary->nfc = 0;
  }
  auto tokenizer = make_tokenizer(std::move(*vocabulary));
  EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().message);
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

std::string text_of(const Json& golden_case) {
  return golden_case.contains("text") ? golden_case["text"].get<std::string>() : bytes_from_hex(golden_case["hex"]);
}

Ids encode(const Tokenizer& tokenizer, const std::string& text, bool add_special, bool parse_special) {
  const auto ids = tokenizer.encode(text, {.add_special = add_special, .parse_special = parse_special});
  EXPECT_TRUE(ids) << (ids ? "" : ids.error().message);
  return ids ? *ids : Ids{};
}

Ids around(const Json& special, const Ids& ids) {
  Ids all = special["prefix"].get<Ids>();
  all.insert(all.end(), ids.begin(), ids.end());
  const Ids suffix = special["suffix"].get<Ids>();
  all.insert(all.end(), suffix.begin(), suffix.end());
  return all;
}

class GoldenVocabulary : public testing::TestWithParam<std::string> {};

TEST_P(GoldenVocabulary, GivesTheIdsOfEveryCase) {
  const auto tokenizer = open_golden(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const Json special = read_golden_json("tokenizers/" + GetParam() + "/meta.json")["add_special"];
  int cases = 0;
  for (const Json& each : read_golden_lines("tokenizers/" + GetParam() + "/cases.jsonl")) {
    const std::string text = text_of(each);
    const Ids plain = encode(*tokenizer, text, false, false);
    if (each["ids"].is_null()) continue;  // The reference throws there: any answer will do.
    std::vector<Ids> right = {each["ids"].get<Ids>()};
    if (each.contains("maker")) right.push_back(each["maker"].get<Ids>());
    std::vector<Ids> right_special, right_parsed = right;
    for (const Ids& ids : right) right_special.push_back(around(special, ids));
    if (each.contains("ids_add_special")) right_special = {each["ids_add_special"].get<Ids>()};
    if (each.contains("ids_parse_special")) right_parsed = {each["ids_parse_special"].get<Ids>()};
    EXPECT_THAT(right, testing::Contains(plain)) << each.dump();
    EXPECT_THAT(right_special, testing::Contains(encode(*tokenizer, text, true, false))) << each.dump();
    EXPECT_THAT(right_parsed, testing::Contains(encode(*tokenizer, text, false, true))) << each.dump();
    ++cases;
  }
  EXPECT_GT(cases, 200);
  EXPECT_EQ(tokenizer->adds_bos(), !special["prefix"].empty());
}

// Where the maker's tokenizer and llama.cpp differ over text, the maker is followed. Over bytes that are no text a
// maker's U+FFFD and SentencePiece's byte tokens are both right, and the bytes are what loses nothing.
TEST_P(GoldenVocabulary, FollowsTheMakerOnText) {
  const auto tokenizer = open_golden(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  for (const Json& each : read_golden_lines("tokenizers/" + GetParam() + "/cases.jsonl")) {
    const bool spells_special =
        each.contains("text") && each["text"].get<std::string>().find("</t") != std::string::npos;
    if (!each.contains("maker") || !each.contains("text") || spells_special) continue;
    if (each["text"].get<std::string>().find("<think>") != std::string::npos)
      continue;  // The maker's was asked without it.
    EXPECT_EQ(encode(*tokenizer, text_of(each), false, false), each["maker"].get<Ids>()) << each.dump();
  }
}

TEST_P(GoldenVocabulary, GivesTheBytesOfEveryPiece) {
  const auto tokenizer = open_golden(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const Json pieces = read_golden_json("tokenizers/" + GetParam() + "/pieces.json")["pieces"];
  for (const Json& each : pieces) {
    EXPECT_EQ(tokenizer->piece(each[0].get<Token>(), true), bytes_from_hex(each[1])) << each.dump();
  }
  EXPECT_GT(pieces.size(), 150u);
}

TEST_P(GoldenVocabulary, StreamsWholeCharactersOnly) {
  const auto tokenizer = open_golden(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  for (const Json& each : read_golden_lines("tokenizers/" + GetParam() + "/stream.jsonl")) {
    Detokenizer stream(*tokenizer, true, false), whole(*tokenizer, true, tokenizer->drops_first_space());
    std::vector<std::string> shown;
    std::string text;
    for (const Token id : each["ids"].get<Ids>()) {
      shown.push_back(stream.add(id));
      text += whole.add(id);
    }
    EXPECT_EQ(shown, each["emit"].get<std::vector<std::string>>());
    EXPECT_EQ(stream.finish(), "");
    EXPECT_EQ(text + whole.finish(), each["detokenize"].get<std::string>());
  }
}

TEST_P(GoldenVocabulary, EndsWithTheTokensOfTheReferenceButThoseThatEndNothing) {
  const auto tokenizer = open_golden(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const Json meta = read_golden_json("tokenizers/" + GetParam() + "/meta.json");
  const std::set<std::string> end_nothing = {"</s>",       "<|fim_pad|>",  "<|repo_name|>",
                                             "<reponame>", "<|file_sep|>", "[PAD]"};
  const Ids reference = meta["eog"].get<Ids>();
  for (Token id = 0; id < tokenizer->size(); ++id) {
    const std::string& text = tokenizer->vocabulary().tokens[static_cast<std::size_t>(id)];
    const bool named = std::find(reference.begin(), reference.end(), id) != reference.end();
    const bool taken_out = end_nothing.contains(text) && id != tokenizer->vocabulary().eos;
    EXPECT_EQ(tokenizer->is_end(id), named && !taken_out) << id << " " << text;
  }
}

// The overridden pre-tokenizer alone is run: no normalization.
TEST(GoldenVocabularies, TakeAnotherPreTokenizer) {
  const std::string name = "tokenizers/qwen2/cases-pre-qwen35.jsonl";
  if (golden_path(name).empty()) GTEST_SKIP() << name << " is only in the full golden data";
  const auto tokenizer = open_golden("qwen2", "qwen35");
  ASSERT_NE(tokenizer, nullptr);
  for (const Json& each : read_golden_lines(name)) {
    EXPECT_EQ(encode(*tokenizer, each["text"], false, false), each["ids"].get<Ids>()) << each.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenVocabulary, testing::ValuesIn(golden_folders("tokenizers", "cases.jsonl")),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace plait
