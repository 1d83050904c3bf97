// The GGUF reader on right files: values, tensors, versions, lookups.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/all.h"
#include "io/model_file.h"
#include "support/gguf_bytes.h"

namespace plait {
namespace {

std::unique_ptr<ModelFile> open(const GgufBytes& file) {
  auto model = open_model_bytes("m.gguf", file.build());
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : nullptr;
}

template <class T>
T value(const ModelFile& model, std::string_view key) {
  const MetadataValue* const found = model.find_metadata(key);
  if (found == nullptr || !std::holds_alternative<T>(*found)) {
    ADD_FAILURE() << key << " is missing or of another type";
    return T{};
  }
  return std::get<T>(*found);
}

TEST(Gguf, ReadsEveryKindOfValue) {
  const auto model = open(small_gguf());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(value<std::string_view>(*model, "general.architecture"), "toy");
  EXPECT_EQ(value<std::int64_t>(*model, "n.u8"), 200);
  EXPECT_EQ(value<std::int64_t>(*model, "n.i8"), -3);
  EXPECT_EQ(value<std::int64_t>(*model, "n.u16"), 60'000);
  EXPECT_EQ(value<std::int64_t>(*model, "n.i16"), -300);
  EXPECT_EQ(value<std::int64_t>(*model, "n.u32"), 4'000'000'000);
  EXPECT_EQ(value<std::int64_t>(*model, "n.i32"), -5);
  EXPECT_EQ(value<std::int64_t>(*model, "n.u64"), 1 << 20);
  EXPECT_EQ(value<std::int64_t>(*model, "n.i64"), -7);
  EXPECT_EQ(value<double>(*model, "n.f32"), 0.5);
  EXPECT_EQ(value<double>(*model, "n.f64"), 0.1);
  EXPECT_EQ(value<bool>(*model, "n.bool"), true);
  EXPECT_EQ(value<std::vector<std::int64_t>>(*model, "a.i32"), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(value<std::vector<double>>(*model, "a.f32"), (std::vector<double>{1.5, -2.5}));
  EXPECT_EQ(value<std::vector<bool>>(*model, "a.bool"), (std::vector<bool>{false, true}));
  EXPECT_EQ(value<std::vector<std::string_view>>(*model, "a.string"), (std::vector<std::string_view>{"one", ""}));
  EXPECT_EQ(model->find_metadata("n.u9"), nullptr);
  EXPECT_EQ(model->metadata().size(), 16u);
  EXPECT_EQ(model->metadata()[1].key, "n.u8");
}

TEST(Gguf, FindsTensorsAndTheirBytes) {
  GgufBytes file = small_gguf();
  for (std::size_t i = 0; i < file.data().size(); ++i) file.data()[i] = static_cast<std::byte>(i);
  const auto model = open(file);
  ASSERT_NE(model, nullptr);
  ASSERT_EQ(model->tensors().size(), 3u);
  const RawTensor* const b = model->find_tensor("b.weight");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->format, find_format("q4_0"));
  EXPECT_EQ(b->cols(), 32);
  EXPECT_EQ(b->rows(), 3);
  EXPECT_EQ(b->dimensions, 2);
  EXPECT_EQ(b->bytes, 54u);
  EXPECT_EQ(b->data[0], std::byte{32});
  const RawTensor* const c = model->find_tensor("c.bias");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->data[0], std::byte{96});
  EXPECT_EQ(c->rows(), 1);
  EXPECT_EQ(model->find_tensor("a.weigh"), nullptr);
  EXPECT_EQ(model->path(), "m.gguf");
}

TEST(Gguf, ReadsVersionTwoAsWell) {
  GgufBytes file = small_gguf();
  file.version = 2;
  const auto model = open(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->tensors().size(), 3u);
}

TEST(Gguf, PlacesDataByTheFilesAlignment) {
  GgufBytes file;
  file.alignment = 128;
  file.number<std::uint32_t>("general.alignment", kGgufU32, 128);
  file.tensor("a", 0, {1}, 4).tensor("b", 0, {1}, 4);
  file.data()[128] = std::byte{7};
  const auto model = open(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->find_tensor("b")->data[0], std::byte{7});
}

TEST(Gguf, TakesAFileOfNoTensorsThatEndsWithItsHeader) {
  GgufBytes file;
  file.string("general.architecture", "vocabulary only");
  EXPECT_NE(open(file), nullptr);
}

TEST(Gguf, TakesATensorOfNoDimensionsAsOneValue) {
  GgufBytes file;
  file.tensor("scalar", 0, {}, 4);
  const auto model = open(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->tensors()[0].values(), 1);
}

TEST(Gguf, OpensAFileOfAnUnknownArchitecture) {
  GgufBytes file;
  file.string("general.architecture", "bytes-only");
  EXPECT_NE(open(file), nullptr);
}

}  // namespace
}  // namespace plait
