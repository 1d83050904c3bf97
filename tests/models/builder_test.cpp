// Builder: what a wrong file is told. Every file is a made tiny model with one thing changed.
#include "models/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "examine/make.h"
#include "models/registry.h"
#include "support/changed_file.h"
#include "support/temporary_directory.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

class BuilderErrors : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.path() + "/model.gguf";
    const Result<MakeReport> made =
        make_model({.architecture = "llama", .type = "q8_0", .seed = 1, .path = path, .progress = {}});
    ASSERT_TRUE(made) << made.error().message;
    Result<std::unique_ptr<ModelFile>> file = open_model_file(path);
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::move(*file);
  }

  ChangedFile copy() const { return ChangedFile(*file_); }
  // The error of loading it; "loaded" if there is none.
  std::string load(const ModelFile& file, bool check_values = true) {
    Result<std::unique_ptr<Backend>> backend = make_cpu_backend({.threads = 1, .isa = "scalar"});
    BuildOptions options;
    options.mode = BuildMode::kLoad;
    options.backend = backend->get();
    options.check_values = check_values;
    notes_.clear();
    const Result<Model> model = build_model(file, options, &notes_);
    return model ? "loaded" : model.error().message;
  }

  TemporaryDirectory folder_;
  std::unique_ptr<ModelFile> file_;
  std::vector<std::string> notes_;
};

TEST_F(BuilderErrors, NoneForARightFile) {
  EXPECT_EQ(load(copy()), "loaded");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(BuilderErrors, NameAnUnknownArchitectureAndTheKnownOnes) {
  EXPECT_THAT(load(copy().set("general.architecture", std::string_view("mamba\x1b[31m"))),
              HasSubstr("changed.gguf: the architecture is 'mamba\\x1b[31m'; known are llama, qwen2, qwen3"));
  EXPECT_THAT(load(copy().remove("general.architecture")), HasSubstr("general.architecture is missing"));
}

TEST_F(BuilderErrors, NameTheKeyAndWhatItHolds) {
  const std::pair<std::string_view, MetadataValue> table[] = {
      {"llama.block_count", std::int64_t{0}},
      {"llama.block_count", std::int64_t{513}},
      {"llama.block_count", std::int64_t{1} << 40},
      {"llama.embedding_length", std::string_view("wide")},
      {"llama.attention.head_count", std::int64_t{0}},
      {"llama.attention.head_count", std::int64_t{-4}},
      {"llama.attention.head_count_kv", std::int64_t{3}},
      {"llama.attention.layer_norm_rms_epsilon", std::numeric_limits<double>::quiet_NaN()},
      {"llama.rope.dimension_count", std::int64_t{15}},
      {"llama.rope.dimension_count", std::int64_t{1024}},
      {"llama.rope.freq_base", -1.0},
      {"llama.rope.scaling.type", std::string_view("spiral")},
      {"llama.rope.scaling.attn_factor", 2.0},
      {"llama.feed_forward_length", std::vector<std::int64_t>{128, 64}},
      {"llama.context_length", std::int64_t{0}},
      {"llama.vocab_size", std::int64_t{385}},
  };
  for (const auto& [key, value] : table) {
    const std::string message = load(copy().set(key, value));
    EXPECT_THAT(message, HasSubstr("changed.gguf: ")) << key;
    EXPECT_THAT(message, HasSubstr(std::string(key.substr(6)))) << key;
  }
  for (const std::string_view key :
       {"llama.block_count", "llama.embedding_length", "llama.feed_forward_length", "llama.context_length"}) {
    EXPECT_THAT(load(copy().remove(key)), HasSubstr("key " + std::string(key) + " is missing"));
  }
}

TEST_F(BuilderErrors, NameTheTensorItsShapeAndTheWantedOne) {
  EXPECT_THAT(load(copy().remove_tensor("blk.1.ffn_up.weight")),
              HasSubstr("tensor 'blk.1.ffn_up.weight' [64, 128] is missing"));
  ChangedFile shape = copy();
  shape.tensor("blk.0.attn_q.weight").extents[1] = 32;
  EXPECT_THAT(load(shape), HasSubstr("tensor 'blk.0.attn_q.weight' has the shape [64, 32], wanted [64, 64]"));
  ChangedFile type = copy();
  type.tensor("blk.0.attn_norm.weight").format = file_->find_tensor("blk.0.attn_q.weight")->format;
  EXPECT_THAT(load(type), HasSubstr("tensor 'blk.0.attn_norm.weight' has the type q8_0, wanted f32, f16 or bf16"));
}

TEST_F(BuilderErrors, AreNotesForTensorsThatNobodyAskedFor) {
  ChangedFile extra = copy();
  extra.tensor("blk.0.attn_surprise.weight") = *file_->find_tensor("blk.0.attn_norm.weight");
  extra.tensor("blk.0.attn_norm.weight");
  const_cast<RawTensor&>(extra.tensors().back()).name = "blk.0.attn_surprise.weight";
  EXPECT_EQ(load(extra), "loaded");
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("1 tensors are not used by the architecture llama: blk.0.attn_surprise.weight"));
}

TEST_F(BuilderErrors, NameTheTensorWithANumberThatIsNone) {
  std::vector<float> values(64, 1.0f);
  values[5] = std::numeric_limits<float>::infinity();
  ChangedFile bad = copy();
  bad.tensor("blk.1.attn_norm.weight").data = reinterpret_cast<const std::byte*>(values.data());
  EXPECT_THAT(load(bad), HasSubstr("blk.1.attn_norm.weight"));
  EXPECT_EQ(load(bad, false), "loaded");
}

}  // namespace
}  // namespace plait::test
