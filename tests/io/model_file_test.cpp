// ModelFile: files and split sets on disk, options, and the golden models.
#include "io/model_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gguf_bytes.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

constexpr const char* kPartNames[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"};

struct SplitOptions {
  int number_change = 0;  // Of part 2.
  int count = 3;          // As part 2 says.
  int tensors = 3;        // As all parts say.
  std::string second_name = "t1";
  int parts = 3;
};

// Part i holds tensor "t<i>" whose first byte is i + 1.
std::string write_split(const TemporaryDirectory& directory, const SplitOptions& options = {}) {
  for (int i = 0; i < options.parts; ++i) {
    GgufBytes part;
    const int number = i + (i == 1 ? options.number_change : 0);
    if (i == 0) part.string("general.architecture", "toy");
    part.number<std::uint16_t>("split.no", kGgufU16, static_cast<std::uint16_t>(number));
    part.number<std::uint16_t>("split.count", kGgufU16, static_cast<std::uint16_t>(i == 1 ? options.count : 3));
    part.number<std::int32_t>("split.tensors.count", kGgufI32, options.tensors);
    part.tensor(i == 1 ? options.second_name : fmt::format("t{}", i), 0, {4}, 16);
    part.data()[0] = static_cast<std::byte>(i + 1);
    directory.write(kPartNames[i], part.build());
  }
  return directory.file(kPartNames[0]);
}

std::string refusal(const std::string& path) {
  const auto model = open_model_file(path);
  return model ? "opened" : model.error().message;
}

TEST(ModelFile, OpensAFileMappedReadOrLocked) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("m.gguf", small_gguf().build());
  for (const OpenOptions options : {OpenOptions{}, OpenOptions{.use_mmap = false}, OpenOptions{.lock_memory = true}}) {
    const auto model = open_model_file(path, options);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ((*model)->path(), path);
    const RawTensor* const tensor = (*model)->find_tensor("b.weight");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->data[0], std::byte{0});
    (*model)->release(*tensor);
  }
}

TEST(ModelFile, ADirectoryOrAMissingFileIsNamed) {
  const TemporaryDirectory directory;
  EXPECT_THAT(refusal(directory.path()), testing::HasSubstr("is a directory; plait reads .gguf files"));
  EXPECT_THAT(refusal(directory.file("none.gguf")), testing::HasSubstr("none.gguf: cannot open"));
}

TEST(ModelFile, BringsAllPartsOfASplitSet) {
  const TemporaryDirectory directory;
  const auto model = open_model_file(write_split(directory));
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ((*model)->tensors().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const RawTensor* const tensor = (*model)->find_tensor(fmt::format("t{}", i));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->data[0], static_cast<std::byte>(i + 1));
    (*model)->release(*tensor);
  }
  EXPECT_NE((*model)->find_metadata("general.architecture"), nullptr);
}

TEST(ModelFile, NamesAMissingPart) {
  const TemporaryDirectory directory;
  const std::string first = write_split(directory);
  std::filesystem::remove(directory.file(kPartNames[1]));
  const auto model = open_model_file(first);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(model.error().message, testing::HasSubstr("part 2 of 3 is missing, wanted at "));
  EXPECT_THAT(model.error().message, testing::EndsWith(kPartNames[1]));
}

TEST(ModelFile, AskedForALaterPartNamesTheFirst) {
  const TemporaryDirectory directory;
  write_split(directory);
  EXPECT_THAT(refusal(directory.file(kPartNames[2])), testing::HasSubstr("is part 3 of 3; open the first part, "));
}

TEST(ModelFile, PartsThatDoNotBelongTogetherAreRefused) {
  const TemporaryDirectory directory;
  EXPECT_THAT(refusal(write_split(directory, {.number_change = 1})),
              testing::HasSubstr("says it is part 3 of 3 with 3 tensors in all, wanted part 2 of 3 with 3"));
  EXPECT_THAT(refusal(write_split(directory, {.count = 4})), testing::HasSubstr("says it is part 2 of 4"));
  EXPECT_THAT(refusal(write_split(directory, {.number_change = 7})),
              testing::HasSubstr("'split.no' is 8, wanted 0 to 2"));
  EXPECT_THAT(refusal(write_split(directory, {.tensors = 4})),
              testing::HasSubstr("its 3 parts hold 3 tensors, key 'split.tensors.count' says 4"));
  EXPECT_THAT(refusal(write_split(directory, {.tensors = -1})), testing::HasSubstr("'split.tensors.count' is -1"));
  EXPECT_THAT(refusal(write_split(directory, {.second_name = "t0"})),
              testing::HasSubstr("tensor 't0' is in two parts"));
}

TEST(ModelFile, ADamagedPartIsNamed) {
  const TemporaryDirectory directory;
  const std::string first = write_split(directory);
  directory.write(kPartNames[2], "GGUF");
  EXPECT_THAT(refusal(first), testing::HasSubstr(std::string(kPartNames[2]) + ": the file ends inside its version"));
}

TEST(ModelFile, ASplitFileMustHaveTheNameThatItsKeysSay) {
  const TemporaryDirectory directory;
  const std::string first = write_split(directory);
  const std::string other = directory.file("renamed.gguf");
  std::filesystem::rename(first, other);
  EXPECT_THAT(refusal(other), testing::HasSubstr("so its name must end in -00001-of-00003.gguf"));
}

TEST(ModelFile, ASplitFileInMemoryIsRefused) {
  GgufBytes part;
  part.number<std::uint16_t>("split.count", kGgufU16, 2).number<std::uint16_t>("split.no", kGgufU16, 0);
  const auto incomplete = open_model_bytes("m", part.build());
  ASSERT_FALSE(incomplete);
  EXPECT_THAT(incomplete.error().message, testing::HasSubstr("has no key 'split.tensors.count'"));
  part.number<std::int32_t>("split.tensors.count", kGgufI32, 0);
  const auto model = open_model_bytes("m", part.build());
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, testing::HasSubstr("part 1 of 2 of a split set, which must be opened as files"));
}

TEST(ModelFile, ASetOfOneIsAnOrdinaryFile) {
  GgufBytes part;
  part.number<std::uint16_t>("split.count", kGgufU16, 1).number<std::uint16_t>("split.no", kGgufU16, 0);
  EXPECT_TRUE(open_model_bytes("m", part.build()));
}

TEST(ModelFile, OpensEveryGoldenFile) {
  int opened = 0;
  for (const std::string folder : {"models", "tokenizers", "real"}) {
    const std::filesystem::path root = std::filesystem::path(PLAIT_GOLDEN_DIR) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".gguf") continue;
      const auto model = open_model_file(entry.path().string());
      EXPECT_TRUE(model) << model.error().message;
      ++opened;
    }
  }
  if (opened == 0) GTEST_SKIP() << "no .gguf files under " << PLAIT_GOLDEN_DIR;
}

}  // namespace
}  // namespace plait
