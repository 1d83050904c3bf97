// Experts of a model file: what is refused, what is counted, and stacks that hold gate and up in one tensor.
#include "models/expert_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "examine/make.h"
#include "models/registry.h"
#include "support/changed_file.h"
#include "support/golden_model.h"
#include "support/temporary_directory.h"

namespace plait::test {
namespace {

using testing::HasSubstr;

constexpr int kExperts = 8, kUsed = 2, kDim = 64, kHidden = 32;  // Of the tiny shape.

class Experts : public testing::Test {
 protected:
  void SetUp() override {
    const Result<MakeReport> made =
        make_model({.architecture = "qwen3moe", .type = "q8_0", .seed = 1, .path = path(), .progress = {}});
    ASSERT_TRUE(made) << made.error().message;
    file_ = std::move(*open_model_file(path()));
  }

  std::string path() const { return folder_.path() + "/model.gguf"; }
  ChangedFile copy() const { return ChangedFile(*file_); }
  std::string error_of(const ModelFile& file) const {
    const Result<Model> model = build_model(file, {}, nullptr);
    return model ? "built" : model.error().message;
  }

  TemporaryDirectory folder_;
  std::unique_ptr<ModelFile> file_;
};

TEST_F(Experts, AreRefusedByTheKeyThatMakesNoSense) {
  const std::pair<std::string_view, std::int64_t> table[] = {
      {"expert_count", 0},
      {"expert_count", 1025},
      {"expert_used_count", 0},
      {"expert_used_count", kExperts + 1},
      {"expert_gating_func", 0},
      {"expert_gating_func", 3},
      {"expert_group_count", 3},
      {"expert_group_count", 65},
      {"expert_group_count", 1 << 20},
  };
  for (const auto& [key, value] : table) {
    const std::string full = "qwen3moe." + std::string(key);
    EXPECT_THAT(error_of(copy().set(full, value)), HasSubstr(std::string(key) + " is")) << value;
  }
  EXPECT_THAT(error_of(copy().remove("qwen3moe.expert_count")), HasSubstr("key qwen3moe.expert_count is missing"));
  EXPECT_THAT(error_of(copy().set("qwen3moe.expert_feed_forward_length", std::int64_t{1})),
              HasSubstr("the experts make 1 values from 64, wanted at least 2"));
  ChangedFile groups = copy();
  groups.set("qwen3moe.expert_group_count", std::int64_t{4});
  EXPECT_THAT(error_of(groups), HasSubstr("built"));  // One group of two experts: just enough.
  EXPECT_THAT(error_of(groups.set("qwen3moe.expert_group_used_count", std::int64_t{5})),
              HasSubstr("expert_group_used_count is 5, wanted at most 4"));
  EXPECT_THAT(error_of(groups.set("qwen3moe.expert_group_used_count", std::int64_t{1})
                           .set("qwen3moe.expert_used_count", std::int64_t{3})),
              HasSubstr("expert_used_count is 3, and 1 of 4 groups have 2 experts"));
}

TEST_F(Experts, WithoutALengthOfTheirOwnShareTheFeedForwardsLength) {
  ChangedFile file = copy();
  file.remove("qwen3moe.expert_feed_forward_length");
  file.set("qwen3moe.feed_forward_length", std::int64_t{kUsed * kHidden});
  EXPECT_EQ(error_of(file), "built");
}

TEST_F(Experts, AreStacksOfTheRightShape) {
  EXPECT_THAT(file_->find_tensor("blk.1.ffn_down_exps.weight")->extents, testing::ElementsAre(32, 64, 8, 1));
  EXPECT_THAT(error_of(copy().remove_tensor("blk.1.ffn_down_exps.weight")),
              HasSubstr("tensor 'blk.1.ffn_down_exps.weight' [32, 64, 8] is missing"));
  ChangedFile few = copy();
  few.tensor("blk.0.ffn_gate_exps.weight").extents[2] = 7;
  EXPECT_THAT(error_of(few),
              HasSubstr("tensor 'blk.0.ffn_gate_exps.weight' has the shape [64, 32, 7], wanted [64, 32, 8]"));
  ChangedFile flat = copy();
  flat.tensor("blk.0.ffn_up_exps.weight").extents = {kDim, kHidden * kExperts, 1, 1};
  EXPECT_THAT(error_of(flat), HasSubstr("wanted [64, 32, 8]"));
}

TEST_F(Experts, CountForATokenAsManyAsItUses) {
  const Result<Model> model = build_model(*file_, {}, nullptr);
  ASSERT_TRUE(model) << model.error().message;
  std::size_t all = 0, stacks = 0;
  std::int64_t values = 0;
  for (const RawTensor& tensor : file_->tensors()) {
    all += tensor.bytes;
    values += tensor.values();
    if (tensor.name.find("_exps") != std::string_view::npos) stacks += tensor.bytes;
  }
  EXPECT_EQ(model->spec().parameters, values);
  EXPECT_EQ(model->spec().weight_bytes, all);
  EXPECT_EQ(model->spec().step_weight_bytes, all - stacks + stacks / kExperts * kUsed);
  EXPECT_EQ(model->spec().layers[0].ffn, "2 of 8 experts, silu, 32");
}

std::vector<Token> some_tokens(int count) {
  std::vector<Token> ids(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ids[static_cast<std::size_t>(i)] = (i * 37 + 11) % 384;
  return ids;
}

TEST_F(Experts, AreCountedWhenTheyAreChosen) {
  const std::vector<Token> ids = some_tokens(40);
  Session session = open_for(path(), {.ids = ids, .positions = {39}}, {});
  run_logits(session, ids, {39}, {});
  const auto counts = session.loaded.model->expert_counts();
  ASSERT_EQ(counts.size(), 2u);
  for (const std::vector<std::uint64_t>& layer : counts) {
    ASSERT_EQ(layer.size(), static_cast<std::size_t>(kExperts));
    EXPECT_EQ(std::accumulate(layer.begin(), layer.end(), std::uint64_t{0}), 40u * kUsed);
  }
}

// The same weights with the rows of gate and of up in one tensor for each layer.
TEST_F(Experts, MayHaveGateAndUpInOneTensor) {
  ChangedFile fused = copy();
  std::vector<std::vector<std::byte>> data;
  std::vector<std::string> names = {"blk.0.ffn_gate_up_exps.weight", "blk.1.ffn_gate_up_exps.weight"};
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".ffn_";
    const RawTensor gate = *file_->find_tensor(prefix + "gate_exps.weight");
    const RawTensor up = *file_->find_tensor(prefix + "up_exps.weight");
    std::vector<std::byte>& both = data.emplace_back();
    const std::size_t bytes = gate.bytes / kExperts;
    for (std::size_t e = 0; e < kExperts; ++e) {
      both.insert(both.end(), gate.data + e * bytes, gate.data + (e + 1) * bytes);
      both.insert(both.end(), up.data + e * bytes, up.data + (e + 1) * bytes);
    }
    RawTensor& tensor = fused.tensor(names[static_cast<std::size_t>(layer)]);
    tensor.format = gate.format;
    tensor.dimensions = 3;
    tensor.extents = {kDim, 2 * kHidden, kExperts, 1};
    tensor.data = both.data();
    tensor.bytes = both.size();
    fused.remove_tensor(prefix + "gate_exps.weight").remove_tensor(prefix + "up_exps.weight");
  }
  const std::vector<Token> ids = some_tokens(20);
  Session session = open_for(path(), {.ids = ids, .positions = {19}}, {});
  const std::vector<float> want = run_logits(session, ids, {19}, {}).logits;

  std::vector<std::string> notes;
  const BuildOptions options{.mode = BuildMode::kLoad,
                             .backend = session.loaded.backend.get(),
                             .key_type = RowType::kF32,
                             .value_type = RowType::kF32,
                             .progress = {}};
  Result<Model> model = build_model(fused, options, &notes);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_EQ(model->spec().step_weight_bytes, session.spec().step_weight_bytes);
  EXPECT_EQ(model->spec().weight_bytes, session.spec().weight_bytes);
  Result<Stepper> stepper =
      Stepper::create(*model, *session.loaded.backend, {.cache_bytes = 1 << 22, .max_context = 64});
  ASSERT_TRUE(stepper) << stepper.error().message;
  Sequence* sequence = stepper->cache().open(ids);
  const Work work{.sequence = sequence, .count = 20, .all_outputs = false};
  std::vector<float> got;
  ASSERT_TRUE(stepper->step({&work, 1}, [&](int, std::span<float> row) { got.assign(row.begin(), row.end()); }));
  ASSERT_EQ(got.size(), want.size());
  EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0);
  stepper->cache().close(sequence);
}

}  // namespace
}  // namespace plait::test
