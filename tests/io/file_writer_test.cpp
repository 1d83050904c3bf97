// FileWriter: whole files or none, and the errors of a disk.
#include "io/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace plait {
namespace {

TEST(FileWriter, HoldsWhatWasWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out", "something longer that was there before");
  auto out = FileWriter::create(path);
  ASSERT_TRUE(out) << out.error().message;
  const std::vector<float> values{1.0f, -2.0f};
  EXPECT_TRUE(out->write(std::span<const float>(values)));
  EXPECT_TRUE(out->close());
  std::ifstream in(path, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(found, std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
}

TEST(FileWriter, LeavesNothingWhenItIsNotClosed) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out");
  {
    auto out = FileWriter::create(path);
    ASSERT_TRUE(out);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(FileWriter, KeepsWhatWasThereUntilTheNewFileIsComplete) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out", "old"), link = directory.file("link");
  std::filesystem::create_symlink(path, link);
  const auto found = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  };
  auto out = FileWriter::create(link);
  ASSERT_TRUE(out) << out.error().message;
  const std::vector<std::byte> x(1, std::byte{'x'}), y(1, std::byte{'y'});
  EXPECT_TRUE(out->write_at(1, y));
  EXPECT_TRUE(out->write_at(0, x));
  EXPECT_EQ(found(), "old");
  EXPECT_TRUE(out->close());
  EXPECT_EQ(found(), "xy");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(FileWriter, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this machine";
  auto out = FileWriter::create("/dev/full");
  ASSERT_TRUE(out);
  const std::vector<std::byte> some(100);
  EXPECT_TRUE(out->write(some));  // In the buffer still.
  const auto closed = out->close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::kIo);
  EXPECT_THAT(closed.error().message, testing::HasSubstr("/dev/full: cannot write: No space left"));
  auto large = FileWriter::create("/dev/full");
  EXPECT_FALSE(large->write(std::vector<std::byte>(1 << 20)));
}

TEST(FileWriter, SaysThatAPlaceCannotBeWritten) {
  const TemporaryDirectory directory;
  const auto out = FileWriter::create(directory.file("none/out"));
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, testing::HasSubstr("none/out: cannot write: No such file or directory"));
  EXPECT_FALSE(FileWriter::create(directory.path()));
}

}  // namespace
}  // namespace plait
