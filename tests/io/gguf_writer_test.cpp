// GgufWriter: what it writes is what the reader reads, and nothing half-written appears under the file's name.
#include "io/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/all.h"
#include "io/model_file.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

using ::testing::HasSubstr;

std::vector<GgufEntry> every_kind_of_value() {
  return {{"general.architecture", std::string("toy")},
          {"a.bool", true},
          {"a.u32", std::uint32_t{7}},
          {"a.i32", std::int32_t{-7}},
          {"a.u64", std::uint64_t{1} << 40},
          {"a.f32", 0.5f},
          {"a.bools", std::vector<bool>{true, false}},
          {"a.u32s", std::vector<std::uint32_t>{1, 2, 3}},
          {"a.i32s", std::vector<std::int32_t>{-1, 2}},
          {"a.f32s", std::vector<float>{0.25f, -4.0f}},
          {"a.texts", std::vector<std::string>{"", "x", "two words"}}};
}

std::vector<GgufTensor> some_tensors() {
  return {
      {"odd", find_format("f32"), {3}}, {"blocks", find_format("q8_0"), {64, 3}}, {"last", find_format("f16"), {5, 1}}};
}

std::vector<std::byte> counted_bytes(std::size_t count, int from) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((static_cast<int>(i) + from) & 255);
  return bytes;
}

TEST(GgufWriter, TheReaderFindsEveryValueAndTensor) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.gguf");
  {
    Result<GgufWriter> writer = GgufWriter::create(path, every_kind_of_value(), some_tensors());
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE(writer->write(counted_bytes(12, 1)));
    const std::vector<std::byte> blocks = counted_bytes(204, 2);
    ASSERT_TRUE(writer->write(std::span(blocks).first(100)));  // In two parts.
    ASSERT_TRUE(writer->write(std::span(blocks).subspan(100)));
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(writer->write(counted_bytes(10, 3)));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(writer->bytes_written(), std::filesystem::file_size(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  const auto file = open_model_file(path);
  ASSERT_TRUE(file) << file.error().message;
  const ModelFile& model = **file;
  EXPECT_EQ(model.metadata().size(), every_kind_of_value().size());
  EXPECT_EQ(std::get<bool>(*model.find_metadata("a.bool")), true);
  EXPECT_EQ(std::get<std::int64_t>(*model.find_metadata("a.u32")), 7);
  EXPECT_EQ(std::get<std::int64_t>(*model.find_metadata("a.i32")), -7);
  EXPECT_EQ(std::get<std::int64_t>(*model.find_metadata("a.u64")), std::int64_t{1} << 40);
  EXPECT_EQ(std::get<double>(*model.find_metadata("a.f32")), 0.5);
  EXPECT_EQ(std::get<std::vector<bool>>(*model.find_metadata("a.bools")), (std::vector<bool>{true, false}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*model.find_metadata("a.i32s")), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(std::get<std::vector<double>>(*model.find_metadata("a.f32s")), (std::vector<double>{0.25, -4}));
  EXPECT_EQ(std::get<std::vector<std::string_view>>(*model.find_metadata("a.texts"))[2], "two words");
  ASSERT_EQ(model.tensors().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const RawTensor& tensor = model.tensors()[static_cast<std::size_t>(i)];
    EXPECT_EQ(tensor.name, some_tensors()[static_cast<std::size_t>(i)].name);
    const std::vector<std::byte> wanted = counted_bytes(tensor.bytes, i + 1);
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), tensor.data)) << tensor.name;
  }
}

TEST(GgufWriter, AHeaderAloneIsAFileWithoutTensors) {
  const auto file = open_model_bytes("header", gguf_header(every_kind_of_value(), {}));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->tensors().size(), 0u);
}

TEST(GgufWriter, LeavesTheOldFileWhenItIsGivenUp) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.gguf", "old");
  {
    Result<GgufWriter> writer = GgufWriter::create(path, every_kind_of_value(), some_tensors());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(counted_bytes(12, 1)));
    EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "old");
}

TEST(GgufWriter, IsTheOnlyOneThatWritesAFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.gguf");
  Result<GgufWriter> first = GgufWriter::create(path, every_kind_of_value(), {});
  ASSERT_TRUE(first) << first.error().message;
  const auto second = GgufWriter::create(path, every_kind_of_value(), {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another program is writing it"));
  ASSERT_TRUE(first->finish());
  EXPECT_TRUE(open_model_file(path));
  EXPECT_TRUE(GgufWriter::create(path, every_kind_of_value(), {}));
}

TEST(GgufWriter, NamesThePathWhereItCannotWrite) {
  const TemporaryDirectory directory;
  const auto missing = GgufWriter::create(directory.file("no/such/a.gguf"), {}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_THAT(missing.error().message,
              HasSubstr(directory.file("no/such/a.gguf") + ": cannot be written: No such file"));
  const auto folder = GgufWriter::create(directory.path(), {}, {});
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("it is a directory"));
}

TEST(GgufWriter, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  std::vector<GgufTensor> tensors = {{"big", find_format("f32"), {1 << 20}}};
  Result<GgufWriter> writer = GgufWriter::create("/dev/full", {}, tensors);
  ASSERT_TRUE(writer) << writer.error().message;
  Result<void> written = writer->write(counted_bytes(4u << 20, 0));
  if (written) written = writer->finish();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_THAT(written.error().message, HasSubstr("/dev/full: cannot be written: No space left on device"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace plait
