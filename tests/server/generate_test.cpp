// generate(): several choices at once, clients that leave, requests that fail, signs of life.
#include "server/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/served.h"

namespace plait::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Talk kThinker{.pieces = {"<think>", "\nhm", "\n</think>\n", "\n\n", "yes", " and", " no"}};
const Talk kEndless{.pieces = {"aa", "bb", "cc"}, .ends = false};

EngineOptions long_context() {
  EngineOptions options;
  options.context = 1024;
  return options;
}

EngineOptions few_events() {
  EngineOptions options = long_context();
  options.queue_events = 4;
  return options;
}

EngineOptions short_queue() {
  EngineOptions options = long_context();
  options.max_sequences = 1;
  options.queue_requests = 1;
  return options;
}

Request ask(int max_tokens = -1) {
  Request request;
  request.text = "Well?";
  request.max_tokens = max_tokens;
  request.sampling.temp = 0;
  return request;
}

// What a sink was told, by choice.
struct Heard {
  explicit Heard(std::size_t choices) : text(choices), reasoning(choices), tokens(choices), ends(choices) {}
  std::vector<std::string> text, reasoning;
  std::vector<int> tokens;
  std::vector<std::vector<FinishReason>> ends;
  int prefills = 0, keep_alives = 0;

  GenerateSink sink() {
    return {.prefill = [this](int, int) { ++prefills; },
            .piece =
                [this](const Piece& piece) {
                  const auto i = static_cast<std::size_t>(piece.choice);
                  EXPECT_TRUE(ends[i].empty()) << "nothing comes after the end";
                  text[i] += piece.text, reasoning[i] += piece.reasoning;
                  if (piece.event != nullptr && piece.event->kind == Event::Kind::kToken) ++tokens[i];
                },
            .finish = [this](int i, const Event& end) { ends[static_cast<std::size_t>(i)].push_back(end.finish); },
            .keep_alive = [this] { ++keep_alives; }};
  }
};

TEST(Generate, SplitsReasoningOffWhereAsked) {
  Served served(kThinker);
  for (const bool split : {false, true}) {
    Heard heard(1);
    FakeReply reply;
    ASSERT_TRUE(generate(served.service, reply, {ask()}, {.split_reasoning = split}, heard.sink()));
    EXPECT_EQ(heard.text[0], split ? "yes and no" : "<think>\nhm\n</think>\n\n\nyes and no");
    EXPECT_EQ(heard.reasoning[0], split ? "hm" : "");
    EXPECT_EQ(heard.tokens[0], 7);
    EXPECT_EQ(heard.prefills, 1);
    EXPECT_THAT(heard.ends[0], ElementsAre(FinishReason::kStop));
  }
}

TEST(Generate, BeginsInReasoningWhereThePromptDoes) {
  Served served({.pieces = {" hm", "</think>", "yes"}});
  Heard heard(1);
  FakeReply reply;
  const GenerateOptions options{.split_reasoning = true, .starts_in_reasoning = true};
  ASSERT_TRUE(generate(served.service, reply, {ask()}, options, heard.sink()));
  EXPECT_EQ(heard.text[0], "yes");
  EXPECT_EQ(heard.reasoning[0], "hm");
}

TEST(Generate, GivesOutWhatWasHeldBack) {
  Served served({.pieces = {"<think>", "hm", "</thi"}});
  Heard heard(1);
  FakeReply reply;
  ASSERT_TRUE(generate(served.service, reply, {ask()}, {.split_reasoning = true}, heard.sink()));
  EXPECT_EQ(heard.text[0], "");
  EXPECT_EQ(heard.reasoning[0], "hm</thi");
}

TEST(Generate, RunsSeveralChoicesToTheirOwnEnds) {
  Served served(kEndless);
  std::vector<Request> requests;
  for (int i = 0; i < 8; ++i) requests.push_back(ask(i * 3));
  Heard heard(8);
  FakeReply reply;
  ASSERT_TRUE(generate(served.service, reply, std::move(requests), {}, heard.sink()));
  for (std::size_t i = 0; i < 8; ++i) {
    std::string expected;
    for (std::size_t k = 0; k < i; ++k) expected += "aabbcc";
    EXPECT_EQ(heard.text[i], expected);
    EXPECT_THAT(heard.ends[i], ElementsAre(FinishReason::kLength));
  }
}

TEST(Generate, CancelsAllWhenTheClientLeaves) {
  Served served(kEndless, {}, few_events());
  Heard heard(3);
  FakeReply reply;
  GenerateSink sink = heard.sink();
  reply.begin(200, "text/plain");
  reply.leave_after = 20;
  const auto note = sink.piece;
  sink.piece = [&](const Piece& piece) {
    note(piece);
    reply.write(piece.text);
  };
  ASSERT_TRUE(generate(served.service, reply, {ask(), ask(), ask()}, {}, sink));
  for (const auto& ends : heard.ends) EXPECT_THAT(ends, ElementsAre(FinishReason::kCancel));
  for (const int tokens : heard.tokens) EXPECT_LT(tokens, 900);
  EXPECT_EQ(served.engine.open_streams(), 0);
}

TEST(Generate, SeesAClientThatLeavesWhileNothingIsWritten) {
  Served served(kEndless, {}, long_context());
  FakeReply reply;
  Heard heard(1);
  GenerateSink sink = heard.sink();
  std::thread client;
  sink.prefill = [&](int, int) { client = std::thread([&] { reply.leave(); }); };
  sink.piece = {};
  Request request = ask();
  ASSERT_TRUE(generate(served.service, reply, {request}, {}, sink));
  client.join();
  EXPECT_EQ(heard.ends[0].size(), 1u);
}

TEST(Generate, DoesNotBeginForAClientThatHasLeft) {
  Served served(kEndless, {}, long_context());
  FakeReply reply;
  reply.leave();
  Heard heard(2);
  ASSERT_TRUE(generate(served.service, reply, {ask(), ask()}, {}, heard.sink()));
  for (const auto& ends : heard.ends) EXPECT_THAT(ends, ElementsAre(FinishReason::kCancel));
}

TEST(Generate, CancelsTheOthersWhenOneIsRefused) {
  Served served(kEndless, {}, long_context());
  FakeReply reply;
  Heard heard(3);
  Request wrong = ask();
  wrong.sampling.top_p = 7;
  const auto done = generate(served.service, reply, {ask(), wrong, ask()}, {}, heard.sink());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(done.error().message, HasSubstr("top_p"));
  for (const auto& ends : heard.ends) EXPECT_TRUE(ends.empty()) << "a failed request has no end to tell of";
  EXPECT_FALSE(reply.begun());
}

TEST(Generate, CancelsTheOthersWhenOneFails) {
  Served served({.pieces = {"aa", "bb"}, .breaks = true}, {}, long_context());
  FakeReply reply;
  Heard heard(3);
  std::vector<Request> requests(3, ask());
  for (const std::size_t i : {0u, 2u}) {  // These never get to where it breaks.
    requests[i].sampling.logit_bias = {{piece_token(0), 100}};
    requests[i].sampling.presence_penalty = 0;
  }
  const auto done = generate(served.service, reply, std::move(requests), {}, heard.sink());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("logit"));
  EXPECT_EQ(heard.text[1], "aabb");
  for (const auto& ends : heard.ends) EXPECT_TRUE(ends.empty());
  EXPECT_LT(heard.tokens[0], 900);
}

TEST(Generate, ReportsAFullQueue) {
  Served served(kEndless, {}, short_queue());
  FakeReply reply;
  Heard heard(8);
  const auto done = generate(served.service, reply, std::vector<Request>(8, ask()), {}, heard.sink());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kBusy);
}

TEST(Generate, GivesASignOfLifeWhileNothingIsSaid) {
  Served served(kEndless, {}, long_context());
  served.service.keep_alive_ms = 1;
  FakeReply reply;
  Heard heard(1);
  GenerateSink sink = heard.sink();
  // A thousand tokens without a letter: each wakes the handler, none is anything to the client.
  Request request = ask();
  request.sampling.logit_bias = {{258, 100}};
  request.ignore_end = true;
  ASSERT_TRUE(generate(served.service, reply, {request}, {}, sink));
  EXPECT_EQ(heard.text[0], "");
  EXPECT_GT(heard.tokens[0], 900);
  EXPECT_GT(heard.keep_alives, 2);
}

}  // namespace
}  // namespace plait::test
