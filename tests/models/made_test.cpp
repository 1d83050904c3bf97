// Every architecture from a seed: the bits of its logits under any schedule and any interleaving of sequences.
#include <gtest/gtest.h>

#include "examine/make.h"
#include "models/registry.h"
#include "support/interleaving.h"
#include "support/model_properties.h"
#include "support/temporary_directory.h"

namespace plait::test {
namespace {

class MadeModel : public testing::TestWithParam<Architecture> {
 protected:
  // The tiny shape of the architecture, 8-bit weights where its widths allow.
  std::string make() {
    MakeRequest request;
    request.architecture = std::string(GetParam().name);
    request.shape = "tiny";
    request.type = "q8_0";
    request.seed = 5;
    request.threads = 1;
    request.path = directory_.file("model.gguf");
    const Result<MakeReport> made = make_model(request);
    EXPECT_TRUE(made) << made.error().message;
    return request.path;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_P(MadeModel, KeepsItsBitsWhateverTheChunksTheCompanyTheThreadsAndTheInstructionSet) {
  expect_same_bits(make(), 130);
}

TEST_P(MadeModel, KeepsItsBitsThroughDraftsForksAndSnapshots) { expect_same_bits_interleaved(make(), 1000, 90); }

INSTANTIATE_TEST_SUITE_P(All, MadeModel, testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace plait::test
