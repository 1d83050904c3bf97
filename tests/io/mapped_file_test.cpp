// MappedFile: bytes of a file either way, pages given back, what is no file.
#include "io/mapped_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

TEST(MappedFile, HoldsTheBytesOfTheFileMappedOrRead) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", std::string(10'000, 'x') + "end");
  for (const bool use_mmap : {true, false}) {
    auto file = MappedFile::open(path, use_mmap);
    ASSERT_TRUE(file) << file.error().message;
    const MappedFile moved = std::move(*file);
    ASSERT_EQ(moved.bytes().size(), 10'003u);
    EXPECT_EQ(moved.bytes()[9'999], std::byte{'x'});
    EXPECT_EQ(moved.bytes()[10'002], std::byte{'d'});
    EXPECT_TRUE(moved.contains(moved.bytes().data()));
    EXPECT_FALSE(moved.contains(moved.bytes().data() + 10'003));
    EXPECT_TRUE(file->bytes().empty());
  }
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", "");
  for (const bool use_mmap : {true, false}) {
    auto file = MappedFile::open(path, use_mmap);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->bytes().empty());
    EXPECT_TRUE(file->lock(path));
  }
}

TEST(MappedFile, WhatIsNoFileIsNamed) {
  const TemporaryDirectory directory;
  const auto missing = MappedFile::open(directory.file("none"), true);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("none: cannot open: No such file"));
  const auto folder = MappedFile::open(directory.path(), true);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, testing::HasSubstr("is a directory, wanted a file"));
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto piped = MappedFile::open(pipe, true);  // Does not wait for a writer.
  ASSERT_FALSE(piped);
  EXPECT_THAT(piped.error().message, testing::HasSubstr("is a device, wanted a file"));
  EXPECT_FALSE(MappedFile::open("/dev/zero", false));
}

TEST(MappedFile, ReleasedPagesLeaveMemoryAndOthersStay) {
  const TemporaryDirectory directory;
  const std::size_t size = std::size_t{32} << 20;
  const std::string path = directory.write("f", std::string(size, 'y'));
  for (const bool use_mmap : {true, false}) {
    const auto file = MappedFile::open(path, use_mmap);
    ASSERT_TRUE(file);
    std::size_t sum = 0;
    for (const std::byte byte : file->bytes()) sum += static_cast<std::size_t>(byte);
    EXPECT_EQ(sum, size * 'y');
    const std::size_t before = memory_bytes();
    file->release(file->bytes().subspan(100, size - 200));
    EXPECT_GT(before, memory_bytes() + size / 2);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(file->bytes()[i], std::byte{'y'});
      EXPECT_EQ(file->bytes()[size - 1 - i], std::byte{'y'});
    }
    file->release(file->bytes().subspan(5, 10));  // Inside one page: nothing happens.
    EXPECT_EQ(file->bytes()[5], std::byte{'y'});
  }
}

TEST(MappedFile, LocksAndStillReleases) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", std::string(16'384, 'z'));
  auto file = MappedFile::open(path, true);
  ASSERT_TRUE(file);
  const auto locked = file->lock(path);
  if (!locked) GTEST_SKIP() << locked.error().message;
  file->release(file->bytes());
  EXPECT_EQ(file->bytes()[8'000], std::byte{'z'});  // A mapping reads the file again.
}

TEST(MappedFile, AFileThatMayNotBeLockedIsAnError) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", std::string(16'384, 'z'));
  auto first = MappedFile::open(path, true);
  ASSERT_TRUE(first);
  if (first->lock(path) && memory_figure_bytes("VmLck") == 0) GTEST_SKIP() << "mlock does nothing under this sanitizer";
  const auto lock_as_nobody = [&path] {
    auto file = MappedFile::open(path, true);
    const struct rlimit none {};
    if (!file || ::setrlimit(RLIMIT_MEMLOCK, &none) != 0) std::_Exit(2);
    if (::geteuid() == 0 && ::setuid(65'534) != 0) std::_Exit(3);  // Root may lock whatever the limit says.
    const auto locked = file->lock(path);
    if (!locked) std::fputs(locked.error().message.c_str(), stderr);
    std::_Exit(locked ? 1 : 0);
  };
  EXPECT_EXIT(lock_as_nobody(), testing::ExitedWithCode(0), "cannot lock its 16384 bytes in memory");
}

}  // namespace
}  // namespace plait
