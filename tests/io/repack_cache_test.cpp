// The repack cache: what was written comes back, and whatever is wrong with the file is named.
#include "io/repack_cache.h"

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

using testing::HasSubstr;

void in_turn(int count, const std::function<void(int, int)>& body) {
  body(0, count / 2);
  body(count / 2, count);
}

class RepackCache : public testing::Test {
 protected:
  // Two whole chunks and some bytes.
  RepackCache() : weights_((std::size_t{16} << 20) + 12345) {
    std::uint64_t state = 1;
    for (std::byte& b : weights_) {
      state = mix_number(state, 7);
      b = static_cast<std::byte>(state >> 56);
    }
  }
  void SetUp() override {
    ASSERT_TRUE(write_repack_cache(path_, stamp_, weights_, in_turn));
    std::ifstream in(path_, std::ios::binary);
    file_.assign((std::istreambuf_iterator<char>(in)), {});
  }
  void put(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string read(const RepackStamp& stamp) {
    std::vector<std::byte> to(weights_.size());
    const Result<void> done = read_repack_cache(path_, stamp, to, in_turn);
    if (done) {
      EXPECT_EQ(to, weights_);
    }
    return done ? "read" : done.error().message;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("model.gguf.repack");
  RepackStamp stamp_{.model = 1, .layout = 2, .checked = true};
  std::vector<std::byte> weights_;
  std::string file_;
};

TEST_F(RepackCache, GivesBackWhatWasWritten) {
  EXPECT_EQ(read(stamp_), "read");
  EXPECT_EQ(read({.model = 1, .layout = 2, .checked = false}), "read");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

TEST_F(RepackCache, IsOfNoUseForAnotherModelOrLayout) {
  EXPECT_THAT(read({.model = 3, .layout = 2, .checked = true}), HasSubstr("another model file"));
  EXPECT_THAT(read({.model = 1, .layout = 3, .checked = true}), HasSubstr("another layout"));
  weights_.resize(weights_.size() - 1);
  EXPECT_THAT(read(stamp_), HasSubstr("another layout"));
}

TEST_F(RepackCache, OfUncheckedWeightsServesOnlyWhoAsksForNoCheck) {
  stamp_.checked = false;
  ASSERT_TRUE(write_repack_cache(path_, stamp_, weights_, in_turn));
  EXPECT_EQ(read(stamp_), "read");
  stamp_.checked = true;
  EXPECT_THAT(read(stamp_), HasSubstr("without the scan"));
}

TEST_F(RepackCache, FindsDamageAnywhere) {
  const std::size_t places[] = {0, 9, 17, 40, 57, 64, 72, 88, 100, std::size_t{8} << 20, file_.size() - 1};
  for (const std::size_t place : places) {
    std::string damaged = file_;
    damaged[place] = static_cast<char>(damaged[place] ^ 4);
    put(damaged);
    EXPECT_NE(read(stamp_), "read") << place;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{30}, std::size_t{70}, file_.size() - 1}) {
    put(file_.substr(0, size));
    EXPECT_NE(read(stamp_), "read") << size;
  }
  put(file_ + "x");
  EXPECT_THAT(read(stamp_), HasSubstr("bytes, wanted"));
  put("GGUF" + file_);
  EXPECT_THAT(read(stamp_), HasSubstr("is no repack cache"));
  put(file_);
  EXPECT_EQ(read(stamp_), "read");
}

TEST_F(RepackCache, IsNotFoundWhereThereIsNone) {
  std::filesystem::remove(path_);
  std::vector<std::byte> to(weights_.size());
  EXPECT_EQ(read_repack_cache(path_, stamp_, to, in_turn).error().code, ErrorCode::kNotFound);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(read(stamp_), HasSubstr("is no file"));
  EXPECT_FALSE(write_repack_cache(path_, stamp_, weights_, in_turn));
}

}  // namespace
}  // namespace plait
