// Values of a tensor: what is decoded, handed over and written.
#include "examine/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/gguf_bytes.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

// An f32 tensor of `rows` x 1000 counting up, and a q8_0 one, and integers.
std::unique_ptr<ModelFile> counting_model(int rows) {
  GgufBytes file;
  file.string("general.architecture", "no such architecture");
  file.tensor("count", 0, {1000, rows}, static_cast<std::size_t>(rows) * 4000);
  for (int i = 0; i < rows * 1000; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(file.data().data() + static_cast<std::size_t>(i) * 4, &value, 4);
  }
  file.tensor("small", 8, {32}, 34).tensor("ids", 26, {4}, 16);
  return std::move(*open_model_bytes("m.gguf", file.build()));
}

TEST(Values, ComeInOrderHoweverManyRowsThereAre) {
  for (const int rows : {1, 2, 1047, 1048, 1049, 2500}) {
    const auto model = counting_model(rows);
    std::int64_t next = 0;
    const auto done = decode_tensor(*model->find_tensor("count"), [&](std::span<const float> values) {
      for (const float value : values) EXPECT_EQ(value, static_cast<float>(next++));
      return Result<void>{};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(next, rows * 1000);
  }
}

TEST(Values, StopWhenTheSinkFails) {
  const auto model = counting_model(2500);
  int calls = 0;
  const auto done = decode_tensor(*model->find_tensor("count"), [&](std::span<const float>) {
    ++calls;
    return Result<void>(fail(ErrorCode::kIo, "full"));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
  EXPECT_EQ(calls, 1);
}

TEST(Values, AreWrittenToAFile) {
  const TemporaryDirectory directory;
  const auto model = counting_model(3);
  EXPECT_TRUE(write_values(*model->find_tensor("count"), directory.file("count")));
  EXPECT_EQ(std::filesystem::file_size(directory.file("count")), 12'000u);
  EXPECT_TRUE(write_values(*model->find_tensor("small"), directory.file("small")));
  EXPECT_EQ(std::filesystem::file_size(directory.file("small")), 128u);
}

TEST(Values, OfIntegersAreRefusedAndLeaveNoFile) {
  const TemporaryDirectory directory;
  const auto model = counting_model(1);
  const auto done = write_values(*model->find_tensor("ids"), directory.file("ids"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "tensor 'ids' has the type i32, which is not decoded to f32");
  EXPECT_FALSE(std::filesystem::exists(directory.file("ids")));
}

TEST(Values, OfATensorThatIsNotThereSayHowToListThem) {
  const auto model = counting_model(1);
  EXPECT_TRUE(tensor_named(*model, "count"));
  const auto missing = tensor_named(*model, "coun\n");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message,
            "m.gguf: has no tensor 'coun\\n'; `plait inspect --tensors` lists the 3 that it has");
}

TEST(Values, ShapeIsInTheFilesOrder) {
  const auto model = counting_model(3);
  EXPECT_EQ(shape_text(*model->find_tensor("count")), "[1000, 3]");
  EXPECT_EQ(shape_text(*model->find_tensor("small")), "[32]");
}

}  // namespace
}  // namespace plait
