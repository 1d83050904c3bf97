// Results are not written onto the model that they come from.
#include "examine/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plait {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputPath : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const {
    std::ofstream(folder_ / name) << "bytes";
    return (folder_ / name).string();
  }

  fs::path folder_;
};

TEST_F(OutputPath, RefusesTheModelByAnyName) {
  const std::string model = file("model.gguf");
  fs::create_symlink(model, folder_ / "link");
  fs::create_hard_link(model, folder_ / "hard");
  for (const std::string name : {"model.gguf", "./model.gguf", "link", "hard"}) {
    const Result<void> checked = check_not_model((folder_ / name).string(), model);
    ASSERT_FALSE(checked) << name;
    EXPECT_THAT(checked.error().message, HasSubstr("is the model itself, wanted another file"));
  }
}

TEST_F(OutputPath, RefusesEveryPartOfASplitSet) {
  const std::string first = file("m-00001-of-00002.gguf"), second = file("m-00002-of-00002.gguf");
  EXPECT_FALSE(check_not_model(first, first));
  EXPECT_FALSE(check_not_model(second, first));
}

TEST_F(OutputPath, TakesWhatIsThereAndWhatIsNot) {
  const std::string model = file("model.gguf");
  EXPECT_TRUE(check_not_model(file("other.f32"), model));
  EXPECT_TRUE(check_not_model((folder_ / "new.f32").string(), model));
  EXPECT_TRUE(check_not_model("", model));
  EXPECT_TRUE(check_not_model("/dev/null", model));
}

}  // namespace
}  // namespace plait
