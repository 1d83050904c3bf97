// Engine: whole requests over a tiny model: the same answer in any company, chunks and threads; options refused.
#include "plait/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/topology.h"

namespace plait {
namespace {

using testing::HasSubstr;

const std::string kModel = PLAIT_GOLDEN_DIR "/models/llama/model.gguf";

EngineOptions tiny() {
  EngineOptions options;
  options.model = kModel;
  options.threads = 1;
  options.context = 300;
  return options;
}

// Skips the test where the model is not there.
class EngineOnATinyModel : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kModel)) GTEST_SKIP() << "there is no " << kModel;
  }
};

Request request_of(int number, int prompt_tokens, int max_tokens) {
  Request request;
  for (int i = 0; i < prompt_tokens; ++i) request.tokens.push_back((number * 131 + i * i * 7 + i) % 384);
  request.max_tokens = max_tokens;
  request.ignore_end = true;
  request.sampling.seed = static_cast<std::uint64_t>(number);
  return request;
}

std::vector<Request> some_requests() {
  std::vector<Request> requests;
  for (int i = 0; i < 9; ++i) requests.push_back(request_of(i, 1 + i * 17, 20 + i));
  return requests;
}

std::vector<std::vector<Token>> answers_alone(Engine& engine) {
  std::vector<std::vector<Token>> answers;
  for (const Request& request : some_requests()) answers.push_back(engine.generate(request)->tokens);
  return answers;
}

std::vector<std::vector<Token>> answers_together(Engine& engine) {
  std::vector<Stream> streams;
  for (const Request& request : some_requests()) streams.push_back(std::move(*engine.submit(request)));
  std::vector<std::vector<Token>> answers;
  for (Stream& stream : streams) {
    std::vector<Token>& tokens = answers.emplace_back();
    while (auto event = stream.next()) {
      if (event->kind == Event::Kind::kToken) tokens.push_back(event->token);
    }
  }
  return answers;
}

TEST_F(EngineOnATinyModel, AnswersTheSameInAnyCompanyChunksAndThreads) {
  auto plain = Engine::open(tiny());
  ASSERT_TRUE(plain) << plain.error().message;
  const auto expected = answers_alone(*plain);
  EXPECT_EQ(expected[0].size(), 20u);
  EXPECT_EQ(answers_together(*plain), expected);
  EngineOptions small_steps = tiny();
  small_steps.step_tokens = 7;
  small_steps.threads = 2;
  auto other = Engine::open(small_steps);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(answers_alone(*other), expected);
  EXPECT_EQ(answers_together(*other), expected);
}

TEST_F(EngineOnATinyModel, GivesTextUsageAndLogProbabilities) {
  auto engine = Engine::open(tiny());
  ASSERT_TRUE(engine) << engine.error().message;
  Request request = request_of(3, 40, 10);
  request.logprobs = 4;
  int events = 0;
  const auto completion = engine->generate(request, [&](const Event&) { ++events; });
  ASSERT_TRUE(completion) << completion.error().message;
  EXPECT_EQ(completion->tokens.size(), 10u);
  EXPECT_EQ(events, 12);  // Progress once, ten tokens, the end.
  EXPECT_EQ(completion->text, engine->detokenize(completion->tokens, false));
  ASSERT_EQ(completion->logprobs.size(), 10u);
  EXPECT_EQ(completion->logprobs[0].alternatives.size(), 4u);
  EXPECT_EQ(completion->finish, FinishReason::kLength);
  EXPECT_EQ(name_of(completion->finish), "length");
  EXPECT_EQ(completion->usage.prompt_tokens, 40);
  EXPECT_GT(completion->usage.prefill_tokens_per_s, 0);
}

TEST_F(EngineOnATinyModel, TakesTextAndMessages) {
  auto engine = Engine::open(tiny());
  ASSERT_TRUE(engine) << engine.error().message;
  Request request;
  request.messages = R"([{"role":"user","content":"Hello"}])";
  request.max_tokens = 3;
  const auto rendered = engine->render(request);
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_THAT(*rendered, HasSubstr("Hello"));
  const auto from_messages = engine->generate(request);
  ASSERT_TRUE(from_messages) << from_messages.error().message;
  Request text;
  text.text = "Hello";
  text.max_tokens = 0;
  const auto from_text = engine->generate(text);
  ASSERT_TRUE(from_text) << from_text.error().message;
  EXPECT_EQ(from_text->usage.prompt_tokens, static_cast<int>(engine->tokenize("Hello")->size()));
  EXPECT_TRUE(from_text->tokens.empty());
}

TEST_F(EngineOnATinyModel, TellsTheBytesOfATokenThatIsNoWholeCharacter) {
  auto engine = Engine::open(tiny());
  ASSERT_TRUE(engine) << engine.error().message;
  const auto tokens = engine->tokenize("\xe2\x82\xac", false);
  ASSERT_TRUE(tokens) << tokens.error().message;
  std::string bytes;
  for (const Token token : *tokens) bytes += engine->token_bytes(token);
  EXPECT_EQ(bytes, "\xe2\x82\xac");
  EXPECT_EQ(engine->token_bytes(-1), "");
  EXPECT_EQ(engine->token_bytes(engine->info().vocabulary), "");
}

TEST_F(EngineOnATinyModel, DescribesItself) {
  auto engine = Engine::open(tiny());
  ASSERT_TRUE(engine) << engine.error().message;
  const ModelInfo& info = engine->info();
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.vocabulary, 384);
  EXPECT_EQ(info.context, 300);
  EXPECT_EQ(info.max_sequences, 64);
  EXPECT_EQ(info.threads, 1);
  EXPECT_EQ(info.activations, 8);
  EXPECT_FALSE(info.isa.empty());
  EXPECT_GE(info.cache_bytes, 300 * info.cache_token_bytes);
  EXPECT_EQ(info.sampling.temp, SampleOptions().temp);
}

TEST_F(EngineOnATinyModel, LeavesTheThreadsOfTheProgramWhereTheyMayRun) {
  const std::vector<int> before = allowed_processors();
  EngineOptions options = tiny();
  options.threads = static_cast<int>(before.size());
  auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ(allowed_processors(), before);
  ASSERT_TRUE(engine->generate(request_of(1, 20, 4)));
  EXPECT_EQ(allowed_processors(), before);
  EXPECT_THAT(engine->info().plan, testing::Contains(HasSubstr("threads: ")));
}

TEST_F(EngineOnATinyModel, TakesActivationsOf16And32Bits) {
  for (const int activations : {16, 32}) {
    EngineOptions options = tiny();
    options.activations = activations;
    auto engine = Engine::open(options);
    ASSERT_TRUE(engine) << engine.error().message;
    EXPECT_EQ(engine->info().activations, activations);
    const auto completion = engine->generate(request_of(1, 5, 4));
    ASSERT_TRUE(completion) << completion.error().message;
    EXPECT_EQ(completion->tokens.size(), 4u);
  }
}

TEST_F(EngineOnATinyModel, RefusesAContextThatDoesNotFitWithNumbers) {
  EngineOptions options = tiny();
  options.context = 2000;
  options.cache_bytes = 100'000;
  const auto engine = Engine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kNoMemory);
  EXPECT_THAT(engine.error().message, HasSubstr("2000 tokens needs"));
  EXPECT_THAT(engine.error().message, HasSubstr("would fit"));
}

TEST_F(EngineOnATinyModel, WorksWithoutItsTokenizer) {
  EngineOptions options = tiny();
  options.tokenizer = false;
  auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto completion = engine->generate(request_of(1, 5, 4));
  ASSERT_TRUE(completion) << completion.error().message;
  EXPECT_EQ(completion->tokens.size(), 4u);
  EXPECT_EQ(completion->text, "");
  Request text;
  text.text = "Hello";
  EXPECT_EQ(engine->submit(text).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(engine->tokenize("Hello").error().code, ErrorCode::kUnsupported);
}

TEST(EngineOptions, AreRefusedByFieldValueAndRange) {
  struct Case {
    std::function<void(EngineOptions&)> spoil;
    const char* message;
  };
  const Case cases[] = {
      {[](EngineOptions& o) { o.model.clear(); }, "model is empty"},
      {[](EngineOptions& o) { o.threads = -1; }, "threads is -1, wanted 0 to 1024"},
      {[](EngineOptions& o) { o.activations = 12; }, "activations are to have 12 bits, 8, 16 or 32 are possible"},
      {[](EngineOptions& o) { o.context = -5; }, "context is -5, wanted 0 to 16777216"},
      {[](EngineOptions& o) { o.step_tokens = 0; }, "step_tokens is 0, wanted 1 to 65536"},
      {[](EngineOptions& o) { o.max_sequences = 0; }, "max_sequences is 0"},
      {[](EngineOptions& o) { o.queue_requests = 0; }, "queue_requests is 0"},
      {[](EngineOptions& o) { o.queue_events = 1; }, "queue_events is 1, wanted 2"},
      {[](EngineOptions& o) { o.model = "/there/is/no/such.gguf"; }, "/there/is/no/such.gguf"},
  };
  for (const Case& c : cases) {
    EngineOptions options = tiny();
    c.spoil(options);
    const auto engine = Engine::open(options);
    ASSERT_FALSE(engine) << c.message;
    EXPECT_THAT(engine.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace plait
