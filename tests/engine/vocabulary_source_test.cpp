// The vocabulary of a model file: each key's type, lengths against each other, ids against their number.
#include "engine/vocabulary_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/model_file.h"

namespace plait {
namespace {

using testing::HasSubstr;

// A file that is metadata alone.
class FakeFile final : public ModelFile {
 public:
  std::string_view path() const override { return "fake.gguf"; }
  std::span<const MetadataEntry> metadata() const override { return entries; }
  std::span<const RawTensor> tensors() const override { return {}; }
  const MetadataValue* find_metadata(std::string_view key) const override {
    for (const MetadataEntry& entry : entries) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  }
  const RawTensor* find_tensor(std::string_view) const override { return nullptr; }
  void release(const RawTensor&) const override {}

  void set(std::string_view key, MetadataValue value) {
    for (MetadataEntry& entry : entries) {
      if (entry.key == key) return static_cast<void>(entry.value = std::move(value));
    }
    entries.push_back({key, std::move(value)});
  }

  std::vector<MetadataEntry> entries;
};

FakeFile whole_file() {
  FakeFile file;
  file.set("tokenizer.ggml.model", std::string_view("gpt2"));
  file.set("tokenizer.ggml.pre", std::string_view("smollm"));
  file.set("tokenizer.ggml.tokens", std::vector<std::string_view>{"a", "b", "ab"});
  file.set("tokenizer.ggml.merges", std::vector<std::string_view>{"a b"});
  file.set("tokenizer.ggml.scores", std::vector<double>{0, -1, -2});
  file.set("tokenizer.ggml.token_type", std::vector<std::int64_t>{1, 3, 4});
  file.set("tokenizer.ggml.bos_token_id", std::int64_t{1});
  file.set("tokenizer.ggml.eos_token_id", std::int64_t{2});
  file.set("tokenizer.ggml.seperator_token_id", std::int64_t{0});
  file.set("tokenizer.ggml.add_bos_token", true);
  file.set("tokenizer.ggml.add_eos_token", false);
  file.set("tokenizer.ggml.normalizer.lowercase", false);
  return file;
}

TEST(VocabularySource, ReadsEveryKey) {
  const auto v = read_vocabulary(whole_file());
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->model, "gpt2");
  EXPECT_EQ(v->pre, "smollm");
  EXPECT_EQ(v->tokens, (std::vector<std::string>{"a", "b", "ab"}));
  EXPECT_EQ(v->merges, std::vector<std::string>{"a b"});
  EXPECT_EQ(v->scores, (std::vector<float>{0, -1, -2}));
  EXPECT_EQ(v->types, (std::vector<TokenType>{TokenType::kNormal, TokenType::kControl, TokenType::kUserDefined}));
  EXPECT_EQ(v->bos, 1);
  EXPECT_EQ(v->eos, 2);
  EXPECT_EQ(v->separator, 0);
  EXPECT_EQ(v->eot, -1);
  EXPECT_EQ(v->add_bos, 1);
  EXPECT_EQ(v->add_eos, 0);
  EXPECT_EQ(v->add_sep, -1);
  EXPECT_EQ(v->lowercase, 0);
}

struct WrongKey {
  const char* key;
  MetadataValue value;
  const char* message;
};

TEST(VocabularySource, RefusesWrongKeysAndNamesThem) {
  const WrongKey cases[] = {
      {"tokenizer.ggml.model", std::int64_t{1}, "tokenizer.ggml.model is an integer; wanted a string"},
      {"tokenizer.ggml.model", std::string_view(""), "tokenizer.ggml.model is missing"},
      {"tokenizer.ggml.pre", true, "tokenizer.ggml.pre is a truth value; wanted a string"},
      {"tokenizer.ggml.tokens", std::vector<std::int64_t>{1}, "tokenizer.ggml.tokens is a list of integers"},
      {"tokenizer.ggml.tokens", std::vector<std::string_view>{}, "tokenizer.ggml.tokens is missing or empty"},
      {"tokenizer.ggml.merges", std::string_view("a b"), "tokenizer.ggml.merges is a string; wanted a list of strings"},
      {"tokenizer.ggml.scores", std::vector<std::int64_t>{1, 2, 3}, "tokenizer.ggml.scores is a list of integers"},
      {"tokenizer.ggml.scores", std::vector<double>{1}, "tokenizer.ggml.scores has 1 entries for the 3"},
      {"tokenizer.ggml.token_type", std::vector<double>{1}, "tokenizer.ggml.token_type is a list of numbers"},
      {"tokenizer.ggml.token_type", std::vector<std::int64_t>{1}, "tokenizer.ggml.token_type has 1 entries for the 3"},
      {"tokenizer.ggml.token_type", std::vector<std::int64_t>{1, 7, 1},
       "tokenizer.ggml.token_type: entry 1 is 7; wanted 1"},
      {"tokenizer.ggml.bos_token_id", std::string_view("1"),
       "tokenizer.ggml.bos_token_id is a string; wanted an integer"},
      {"tokenizer.ggml.eos_token_id", std::int64_t{3},
       "tokenizer.ggml.eos_token_id is 3, which is no token id; there are 3"},
      {"tokenizer.ggml.mask_token_id", std::int64_t{-1}, "tokenizer.ggml.mask_token_id is -1"},
      {"tokenizer.ggml.padding_token_id", std::int64_t{4294967295}, "tokenizer.ggml.padding_token_id is 4294967295"},
      {"tokenizer.ggml.add_bos_token", std::int64_t{1},
       "tokenizer.ggml.add_bos_token is an integer; wanted a truth value"},
      {"tokenizer.ggml.add_space_prefix", 1.0, "tokenizer.ggml.add_space_prefix is a number"}};
  for (const WrongKey& each : cases) {
    FakeFile file = whole_file();
    file.set(each.key, each.value);
    const auto read = read_vocabulary(file);
    ASSERT_FALSE(read) << each.key;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().message, HasSubstr("fake.gguf: "));
    EXPECT_THAT(read.error().message, HasSubstr(each.message));
  }
}

TEST(VocabularySource, NamesTheKeyThatIsMissing) {
  const auto read = read_vocabulary(FakeFile());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("tokenizer.ggml.model is missing"));
}

}  // namespace
}  // namespace plait
