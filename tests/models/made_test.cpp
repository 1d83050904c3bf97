// Every architecture from a seed: the bits of its logits under any schedule and any interleaving of sequences.
#include <gtest/gtest.h>

#include "examine/make.h"
#include "models/registry.h"
#include "support/allocations.h"
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

// From the embedding to the logits, on all threads: a step that has begun cannot run out of memory.
TEST_P(MadeModel, TakesNothingFromTheHeapWithinAStep) {
  SessionOptions options;
  options.load.path = make();
  options.load.cpu.threads = 2;
  options.load.tokenizer = false;
  options.memory.context = 128;
  Result<Session> session = open_session(options);
  ASSERT_TRUE(session) << session.error().message;
  Cache& cache = session->stepper.cache();
  Sequence* sequence = cache.open(std::vector<Token>(100, 3));
  for (const int count : {33, 1, 17, 1, 30}) {  // Prefill, decode, the end of a chunk.
    const Work work{.sequence = sequence, .count = count, .all_outputs = true};
    std::uint64_t begin = 0, end = 0;
    const Result<void> stepped = session->stepper.step(
        {&work, 1}, [&](int, std::span<float>) { end = allocations(); },
        [&](int layer, Tensor) { begin = layer == 0 ? allocations() : begin; });
    ASSERT_TRUE(stepped) << stepped.error().message;
    EXPECT_GT(begin, 0u);
    EXPECT_EQ(end - begin, 0u) << count << " tokens";
    cache.commit(sequence, count);
  }
  cache.close(sequence);
}

INSTANTIATE_TEST_SUITE_P(All, MadeModel, testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace plait::test
