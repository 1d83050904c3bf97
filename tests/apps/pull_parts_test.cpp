// The parts of `plait pull`: names, addresses, checksums, and files that are still coming.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "hub.h"
#include "model_list.h"
#include "model_store.h"
#include "part_file.h"
#include "sha256.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string sha256_of(const fs::path& path) {
  Result<std::string> digest = sha256_of_file(path, [](std::uint64_t) { return true; });
  return digest ? *digest : digest.error().message;
}

PartFile open_part(const fs::path& target) {
  Result<std::optional<PartFile>> part = PartFile::open(target, [] { ADD_FAILURE() << "nobody else has it"; });
  if (!part || !part->has_value()) std::abort();
  return std::move(**part);
}

TEST(Sha256, GivesThePublishedDigests) {
  const TemporaryDirectory folder;
  write(folder.file("empty"), "");
  write(folder.file("abc"), "abc");
  write(folder.file("million"), std::string(1'000'000, 'a'));
  EXPECT_EQ(sha256_of(folder.file("empty")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(folder.file("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(folder.file("million")), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, SaysWhichFileItCannotRead) {
  EXPECT_NE(sha256_of("/nowhere/at/all").find("'/nowhere/at/all' cannot be read"), std::string::npos);
}

TEST(HubName, IsOwnerRepositoryAndFile) {
  Result<HubFile> file = parse_hub_name("hf:owner/repo.v1/folder/model.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->owner, "owner");
  EXPECT_EQ(file->repository, "repo.v1");
  EXPECT_EQ(file->file, "folder/model.gguf");
}

TEST(HubName, ClimbsNowhere) {
  for (const char* name : {"hf:", "hf:a", "hf:a/b", "hf:a/b/", "hf:/b/c", "hf:a//c", "hf:a/b/../c", "hf:../b/c",
                           "hf:a/./c", "hf:a/b/c?x", "hf:a/b/c#x", "hf:a/b/%2e%2e", "hf:a\\b/c/d"}) {
    EXPECT_FALSE(parse_hub_name(name)) << name;
  }
}

TEST(HubUrl, EscapesWhatIsNoPath) {
  const HubAccess access{.endpoint = "https://hub.test", .token = ""};
  EXPECT_EQ(hub_url(access, {"o", "r", "a b/c+d.gguf"}), "https://hub.test/o/r/resolve/main/a%20b/c%2Bd.gguf");
}

TEST(KnownModels, AreWholeAndFoundByName) {
  for (const KnownModel& model : known_models()) {
    EXPECT_EQ(find_known_model(model.name), &model);
    EXPECT_EQ(model.sha256.size(), 64u);
    EXPECT_GT(model.bytes, 0u);
    EXPECT_FALSE(model.hub.file.empty());
  }
  EXPECT_EQ(find_known_model("no such model"), nullptr);
}

TEST(ResolveModel, TakesAPathAsItIs) {
  const TemporaryDirectory folder;
  write(folder.file("m.gguf"), "x");
  Result<std::string> path = resolve_model(folder.file("m.gguf"));
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, folder.file("m.gguf"));
}

TEST(ResolveModel, NamesWhatIsMissing) {
  EXPECT_NE(resolve_model("hf:o/r/never-pulled.gguf").error().message.find("plait pull hf:o/r/never-pulled.gguf"),
            std::string::npos);
  EXPECT_NE(resolve_model("nonsense").error().message.find("smollm2"), std::string::npos);
}

TEST(PartFile, TakesTheTargetsNameOnlyWhenPublished) {
  const TemporaryDirectory folder;
  const fs::path target = fs::path(folder.path()) / "deep" / "er" / "m.gguf";
  PartFile part = open_part(target);
  ASSERT_TRUE(part.append(std::string_view("hello")));
  EXPECT_FALSE(fs::exists(target));
  ASSERT_TRUE(part.publish());
  EXPECT_EQ(read(target), "hello");
  EXPECT_FALSE(fs::exists(part.path()));
}

TEST(PartFile, RemembersWhereItWasAndOfWhat) {
  const TemporaryDirectory folder;
  const fs::path target = folder.file("m.gguf");
  {
    PartFile part = open_part(target);
    ASSERT_TRUE(part.begin_again("\"mark\""));
    ASSERT_TRUE(part.append(std::string_view("begin")));
  }
  PartFile part = open_part(target);
  EXPECT_EQ(part.size(), 5u);
  EXPECT_EQ(part.etag(), "\"mark\"");
  ASSERT_TRUE(part.append(std::string_view("ning")));
  ASSERT_TRUE(part.publish());
  EXPECT_EQ(read(target), "beginning");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(PartFile, LeavesNothingBehindWhenNothingCame) {
  const TemporaryDirectory folder;
  { const PartFile part = open_part(folder.file("m.gguf")); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(PartFile, IsNotGivenWhenTheTargetIsThere) {
  const TemporaryDirectory folder;
  write(folder.file("m.gguf"), "x");
  Result<std::optional<PartFile>> part = PartFile::open(folder.file("m.gguf"), [] {});
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->has_value());
}

TEST(PartFile, SaysWhatIsMissingOnTheDisk) {
  const TemporaryDirectory folder;
  const PartFile part = open_part(folder.file("m.gguf"));
  EXPECT_TRUE(part.check_room(1));
  const Result<void> room = part.check_room(std::uint64_t{1} << 60);
  ASSERT_FALSE(room);
  EXPECT_NE(room.error().message.find("MB free"), std::string::npos);
}

}  // namespace
}  // namespace plait
