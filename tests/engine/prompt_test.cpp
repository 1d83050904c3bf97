// Prompts: which kinds there are, what a template sees, and BOS once only.
#include "engine/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait {
namespace {

using testing::HasSubstr;

// Bytes are tokens; 256 is BOS, "<s>", which encode() puts first.
class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() { vocabulary_.bos = 256, vocabulary_.eos = 257; }
  Result<std::vector<Token>> encode(std::string_view text, const EncodeOptions& options) const override {
    std::vector<Token> tokens;
    if (options.add_special) tokens.push_back(256);
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  std::string piece(Token token, bool special) const override {
    if (token < 256) return std::string(1, static_cast<char>(token));
    return !special ? "" : token == 256 ? "<s>" : "</s>";
  }
  int size() const override { return 258; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool is_end(Token token) const override { return token == 257; }
  bool drops_first_space() const override { return false; }
  bool adds_bos() const override { return true; }

 private:
  Vocabulary vocabulary_;
};

// A byte-level vocabulary whose longest token has four bytes, and which says when it was asked to cut a text.
class LongTokenizer : public ByteTokenizer {
 public:
  LongTokenizer() {
    long_.model = "gpt2";
    long_.tokens = {"a", "abcd"};
  }
  const Vocabulary& vocabulary() const override { return long_; }

 private:
  Vocabulary long_;
};

const ByteTokenizer kTokenizer;

PromptTools tools(std::string_view chat_template) { return {&kTokenizer, chat_template}; }

Request with_messages(std::string messages) {
  Request request;
  request.messages = std::move(messages);
  return request;
}

TEST(Prompt, HasExactlyOneKind) {
  Request request;
  EXPECT_THAT(prepare_prompt(request, tools("")).error().message, HasSubstr("0 kinds of prompt"));
  request.text = "ab";
  EXPECT_EQ(prepare_prompt(request, tools(""))->tokens, (std::vector<Token>{256, 'a', 'b'}));
  request.tokens = {1, 2};
  EXPECT_THAT(prepare_prompt(request, tools("")).error().message, HasSubstr("2 kinds of prompt"));
  request.text.reset();
  EXPECT_EQ(prepare_prompt(request, tools(""))->tokens, (std::vector<Token>{1, 2}));
}

TEST(Prompt, OfFarTooManyBytesIsRefusedUncut) {
  const LongTokenizer tokenizer;
  PromptTools tools{&tokenizer, "{{ messages[0].content }}", 10};
  Request request;
  request.text = std::string(10 * 4 * 3 + 11, 'a');  // At least ten tokens: what fits is for the engine to say.
  EXPECT_TRUE(prepare_prompt(request, tools));
  request.text = std::string(11 * 4 * 3, 'a');
  EXPECT_THAT(prepare_prompt(request, tools).error().message, HasSubstr("132 bytes, which are at least 11 tokens"));
  request.messages = R"([{"role":"user","content":")" + *request.text + R"("}])";
  request.text.reset();
  EXPECT_THAT(prepare_prompt(request, tools).error().message, HasSubstr("room for 10"));
  tools.context = 0;
  EXPECT_TRUE(prepare_prompt(request, tools));
}

TEST(Prompt, ShowsTheTemplateMessagesVariablesAndSpecialTokens) {
  Request request = with_messages(R"([{"role":"user","content":"hi"}])");
  request.template_variables = R"({"mood":"calm"})";
  const std::string_view source =
      "{{ bos_token }}{{ messages[0].content }} {{ mood }} {{ add_generation_prompt }} {{ eos_token }}";
  EXPECT_EQ(*render_prompt(request, tools(source)), "<s>hi calm True </s>");
  request.add_generation_prompt = false;
  EXPECT_EQ(*render_prompt(request, tools(source)), "<s>hi calm False </s>");
}

TEST(Prompt, HasOneBosWhetherTheTemplateWritesItOrNot) {
  const Request request = with_messages(R"([{"role":"user","content":"x"}])");
  const std::vector<Token> expected{256, 'x'};
  EXPECT_EQ(prepare_prompt(request, tools("{{ bos_token }}{{ messages[0].content }}"))->tokens, expected);
  EXPECT_EQ(prepare_prompt(request, tools("{{ messages[0].content }}"))->tokens, expected);
}

TEST(Prompt, IsCutWhereTheLastMessageEndsToContinueIt) {
  Request request = with_messages(R"([{"role":"assistant","content":"so far"}])");
  request.continue_final_message = true;
  const auto rendered = render_prompt(
      request, tools("{{ messages[0].content }}<end>{% if add_generation_prompt %}<assistant>{% endif %}"));
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(*rendered, "so far");
}

TEST(Prompt, RefusesWhatIsNoMessages) {
  const std::pair<Request, const char*> cases[] = {
      {with_messages("{}"), "messages is a JSON object, wanted an array"},
      {with_messages("[1"), "messages"},
      {Request{}, "no messages"},
  };
  for (const auto& [request, message] : cases)
    EXPECT_THAT(render_prompt(request, tools("")).error().message, HasSubstr(message));
  Request request = with_messages("[]");
  request.template_variables = "[]";
  EXPECT_THAT(render_prompt(request, tools("")).error().message,
              HasSubstr("template_variables is a JSON array, wanted an object"));
  EXPECT_EQ(render_prompt(request, {}).error().code, ErrorCode::kUnsupported);
}

TEST(Prompt, PassesOnWhatTheTemplateSays) {
  const Request request = with_messages("[]");
  const auto rendered = render_prompt(request, tools("{{ raise_exception('no messages at all') }}"));
  ASSERT_FALSE(rendered);
  EXPECT_THAT(rendered.error().message, HasSubstr("no messages at all"));
}

}  // namespace
}  // namespace plait
