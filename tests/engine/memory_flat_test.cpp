// A thousand requests to a hybrid leave the memory of the process as it was: blocks and anchors are used again.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "plait/engine.h"
#include "support/golden_model.h"
#include "support/memory.h"

namespace plait::test {
namespace {

// Four together, of 1 to 100 tokens, with short answers.
void run_requests(Engine& engine, int first, int count) {
  for (int i = first; i < first + count; i += 4) {
    std::vector<Stream> streams;
    for (int k = i; k < i + 4; ++k) {
      Request request;
      const auto seed = static_cast<std::uint64_t>(k);
      for (std::uint64_t t = 0, length = 1 + random_bits(seed, 0) % 100; t < length; ++t)
        request.tokens.push_back(static_cast<Token>(random_bits(seed, t + 1) % 2000));
      request.max_tokens = 1 + k % 20;
      auto stream = engine.submit(request);
      ASSERT_TRUE(stream) << stream.error().message;
      streams.push_back(std::move(*stream));
    }
    for (Stream& stream : streams) {
      while (stream.next()) {
      }
    }
  }
}

TEST(EngineMemory, StaysFlatOverAThousandRequestsToAHybrid) {
  EngineOptions options;
  options.model = (golden_dir() / "real" / "tiny-hybrid" / "model-q8_0.gguf").string();
  options.threads = 1;
  options.context = 512;
  auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  run_requests(*engine, 0, 200);
  const std::size_t before = memory_bytes();
  run_requests(*engine, 200, 1000);
  EXPECT_LE(memory_bytes(), before + before / 100);
}

}  // namespace
}  // namespace plait::test
