// Request::embedding: one vector for a prompt, the same bits in any chunks and company.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "engine/core_bench.h"
#include "engine/pooler.h"
#include "examine/session.h"

namespace plait {
namespace {

using testing::HasSubstr;

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

double norm_of(const std::vector<float>& vector) {
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

TEST(Pooler, DividesTheMeanByItsNorm) {
  Pooler mean(Pooling::kMean);
  mean.add(0, std::vector<float>{1, 2});
  mean.add(1, std::vector<float>{5, 6});
  EXPECT_EQ(*mean.vector(), (std::vector<float>{0.6f, 0.8f}));  // Of 3 and 4.
  mean.add(0, std::vector<float>{9, 9});                        // Computed again after a pause.
  EXPECT_EQ(*mean.vector(), (std::vector<float>{0.6f, 0.8f}));
}

TEST(Pooler, TakesTheLastRowAlone) {
  Pooler last(Pooling::kLast);
  EXPECT_FALSE(last.wants_until(10));
  last.add(9, std::vector<float>{0, -2});
  EXPECT_EQ(*last.vector(), (std::vector<float>{0, -1}));
}

TEST(Pooler, LeavesZerosAndRefusesWhatIsNoNumber) {
  Pooler zeros(Pooling::kMean);
  zeros.add(0, std::vector<float>{0, 0});
  EXPECT_EQ(*zeros.vector(), (std::vector<float>{0, 0}));
  Pooler spoilt(Pooling::kMean);
  spoilt.add(0, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  spoilt.add(1, std::vector<float>{1, 1});
  ASSERT_FALSE(spoilt.vector());
  EXPECT_EQ(spoilt.vector().error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(spoilt.vector().error().message, HasSubstr("element 1 of the hidden rows is nan"));
}

std::vector<float> expected_embedding(const Request& request) {
  Pooler pooler(request.embedding);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < request.tokens.size(); ++i) {
    hash = random_bits(hash, static_cast<std::uint64_t>(request.tokens[i]));
    pooler.add(static_cast<int>(i), FakeModel::hidden_of(hash));
  }
  return *pooler.vector();
}

TEST(Embedding, HasTheSameBitsInAnyCompanyAndThroughPauses) {
  const Shape shapes[] = {{.max_sequences = 1},
                          {.step_tokens = 3, .max_sequences = 3},
                          {.step_tokens = 1, .max_sequences = 1},
                          {.blocks = 8, .step_tokens = 40, .max_sequences = 8, .queue_events = 2},
                          {.blocks = 10, .step_tokens = 50, .recurrent = true}};
  for (const Shape& shape : shapes) {
    Bench bench(shape);
    std::vector<Request> requests;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Request request = request_of(seed, 1 + static_cast<int>(seed * 17 % 100), 20);
      if (seed % 3 != 0) {
        request.embedding = seed % 3 == 1 ? Pooling::kMean : Pooling::kLast;
        request.max_tokens = -1;
      }
      requests.push_back(std::move(request));
    }
    std::vector<Stream> streams;
    for (const Request& request : requests) streams.push_back(bench.submit(request));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Collected all = collect(streams[i]);
      if (requests[i].embedding == Pooling::kNone) {
        ASSERT_EQ(all.tokens, expected_of(requests[i], shape.context).tokens) << i;
        ASSERT_TRUE(all.finish.embedding.empty());
        continue;
      }
      ASSERT_EQ(all.finish.finish, FinishReason::kStop);
      ASSERT_TRUE(all.tokens.empty());
      ASSERT_EQ(all.progress.back(), static_cast<int>(requests[i].tokens.size()));
      expect_same_bits(all.finish.embedding, expected_embedding(requests[i]));
    }
  }
}

TEST(Embedding, IsRefusedBesideWhatOnlyAnAnswerHas) {
  Bench bench({});
  Request plain = request_of(1, 5, -1);
  plain.embedding = Pooling::kMean;
  const std::pair<const char*, std::function<void(Request&)>> cases[] = {
      {"logprobs is given", [](Request& r) { r.logprobs = 0; }},
      {"prompt_logprobs is given", [](Request& r) { r.prompt_logprobs = 0; }},
      {"stop is given", [](Request& r) { r.stop = {"x"}; }},
      {"max_tokens is given", [](Request& r) { r.max_tokens = 1; }}};
  for (const auto& [message, spoil] : cases) {
    Request request = plain;
    spoil(request);
    const auto refused = bench.core->submit(request, request.tokens);
    ASSERT_FALSE(refused) << message;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, testing::StartsWith(message));
  }
  plain.max_tokens = 0;
  Stream stream = bench.submit(plain);
  EXPECT_EQ(collect(stream).finish.embedding.size(), FakeModel::kWidth);
}

const std::string kModel = PLAIT_GOLDEN_DIR "/models/llama/model.gguf";

class EmbeddingOfATinyModel : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kModel)) GTEST_SKIP() << "there is no " << kModel;
  }
};

std::vector<Token> tiny_prompt(int tokens) {
  std::vector<Token> prompt;
  for (int i = 0; i < tokens; ++i) prompt.push_back((i * i * 7 + i) % 384);
  return prompt;
}

TEST_F(EmbeddingOfATinyModel, HasTheSameBitsForAnyChunksThreadsAndCompany) {
  std::vector<float> first[2];
  for (const int chunk : {512, 1, 3, 16}) {
    EngineOptions options;
    options.model = kModel;
    options.threads = chunk == 16 ? 2 : 1;
    options.context = 600;
    options.cache_bytes = 8 << 20;
    options.step_tokens = chunk;
    auto engine = Engine::open(options);
    ASSERT_TRUE(engine) << engine.error().message;
    for (const bool company : {false, true}) {
      std::vector<Stream> others;
      for (int i = 0; company && i < 5; ++i) {
        Request other;
        other.tokens = tiny_prompt(20 + 31 * i);
        other.max_tokens = 40;
        if (i == 3) other.embedding = Pooling::kMean, other.max_tokens = 0;
        others.push_back(std::move(*engine->submit(other)));
      }
      for (const Pooling kind : {Pooling::kMean, Pooling::kLast}) {
        Request request;
        request.tokens = tiny_prompt(523);
        request.embedding = kind;
        const auto completion = engine->generate(request);
        ASSERT_TRUE(completion) << completion.error().message;
        EXPECT_EQ(completion->finish, FinishReason::kStop);
        EXPECT_EQ(completion->embedding.size(), static_cast<std::size_t>(engine->info().width));
        EXPECT_NEAR(norm_of(completion->embedding), 1, 1e-6);
        std::vector<float>& expected = first[kind == Pooling::kMean ? 0 : 1];
        if (expected.empty()) expected = completion->embedding;
        expect_same_bits(completion->embedding, expected);
      }
    }
  }
  EXPECT_NE(first[0], first[1]);
}

// The model's head over the rows that were pooled gives the logits of the same tokens.
TEST_F(EmbeddingOfATinyModel, IsMadeOfTheRowsThatTheHeadReads) {
  SessionOptions options;
  options.load.path = kModel;
  options.load.cpu.threads = 1;
  options.load.tokenizer = false;
  options.memory.context = 64;
  auto session = open_session(options);
  ASSERT_TRUE(session) << session.error().message;
  const std::vector<Token> prompt = tiny_prompt(40);
  Cache& cache = session->stepper.cache();
  const auto outputs = [&](bool hidden) {
    std::vector<std::vector<float>> rows;
    Sequence* sequence = cache.open(prompt);
    const Work work{.sequence = sequence, .count = 40, .all_outputs = true, .hidden = hidden};
    EXPECT_TRUE(session->stepper.step({&work, 1}, [&](int index, std::span<float> row) {
      EXPECT_EQ(index, static_cast<int>(rows.size()));
      rows.emplace_back(row.begin(), row.end());
    }));
    cache.commit(sequence, 40);
    cache.close(sequence);
    return rows;
  };
  const auto rows = outputs(true), logits = outputs(false);
  ASSERT_EQ(rows.size(), 40u);
  const Model& model = *session->loaded.model;
  Backend& backend = *session->loaded.backend;
  const auto memory = backend.allocate(model.scratch_bytes(40, 40));
  ASSERT_TRUE(memory);
  Pooler pooler(Pooling::kMean);
  for (int i = 0; i < 40; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Workspace scratch(**memory);
    const Tensor row = scratch.take(1, session->spec().dim);
    backend.write(rows[at], row);
    std::vector<float> product(logits[at].size());
    backend.read(model.logits(backend, scratch, row), product);
    expect_same_bits(product, logits[at]);
    pooler.add(i, rows[at]);
  }
  EngineOptions open;
  open.model = kModel;
  open.threads = 1;
  auto engine = Engine::open(open);
  ASSERT_TRUE(engine) << engine.error().message;
  Request request;
  request.tokens = prompt;
  request.embedding = Pooling::kMean;
  expect_same_bits(engine->generate(request)->embedding, *pooler.vector());
}

}  // namespace
}  // namespace plait
