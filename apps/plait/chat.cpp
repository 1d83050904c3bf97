// A chat in the terminal: messages, commands, answers.
#include "chat.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "answer.h"
#include "commands.h"
#include "line_reader.h"

namespace plait {
namespace {

constexpr const char* kHelp =
    "/help           this\n"
    "/system TEXT    set the system prompt (without TEXT: drop it) and start anew\n"
    "/regen          answer the last message again\n"
    "/clear          forget the conversation\n"
    "/bye            leave (also Ctrl-D)\n"
    "\"\"\"             begins and ends a message of several lines; pasted lines stay together\n"
    "Ctrl-C          ends an answer, or drops what is typed\n";

class Chat {
 public:
  Chat(Engine& engine, const std::string& system, const Request& request, InterruptFlag& interrupt)
      : engine_(engine), request_(request), system_(system), interrupt_(interrupt) {
    clear();
  }

  // False: the chat is over.
  bool take(const std::string& line) {
    if (line.find_first_not_of(" \t\r\n") == std::string::npos) return true;
    if (line[0] == '/') return command(line);
    messages_.push_back({{"role", "user"}, {"content", line}});
    reply();
    return true;
  }

 private:
  void clear() {
    messages_ = nlohmann::ordered_json::array();
    if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
  }

  bool command(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "/bye" || name == "/exit" || name == "/quit") return false;
    if (name == "/help") {
      fmt::print(stderr, "{}", kHelp);
    } else if (name == "/clear") {
      clear();
    } else if (name == "/system") {
      system_ = rest;
      clear();
    } else if (name == "/regen") {
      regenerate();
    } else {
      fmt::print(stderr, "there is no command {}; see /help\n", without_terminal_codes(name));
    }
    return true;
  }

  void regenerate() {
    if (!messages_.empty() && messages_.back()["role"] == "assistant") messages_.erase(messages_.size() - 1);
    if (messages_.empty() || messages_.back()["role"] != "user") {
      fmt::print(stderr, "there is no message to answer yet\n");
      return;
    }
    ++request_.sampling.seed;  // Another seed: another answer.
    reply();
  }

  void reply() {
    Request request = request_;
    request.messages = messages_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const Result<Answer> result =
        answer(engine_, std::move(request), std::chrono::steady_clock::now(), show_text, interrupt_);
    if (!result) {
      print_error(result.error().message);
      messages_.erase(messages_.size() - 1);
      return;
    }
    fmt::print("\n");
    std::fflush(stdout);
    fmt::print(stderr, "[{}]\n", figures(engine_.info(), result->usage));
    if (result->finish == FinishReason::kLength)
      fmt::print(stderr, "[the answer ends here: its limit or the context is full; /clear starts anew]\n");
    messages_.push_back({{"role", "assistant"}, {"content", result->text}});
  }

  Engine& engine_;
  Request request_;
  std::string system_;
  nlohmann::ordered_json messages_;
  InterruptFlag& interrupt_;
};

}  // namespace

Result<void> chat(Engine& engine, const std::string& system, const Request& request) {
  InterruptFlag interrupt;
  Chat chat(engine, system, request, interrupt);
  LineReader reader("> ", interrupt);
  if (reader.interactive()) fmt::print(stderr, "a chat with {}; /help lists the commands\n", engine.info().name);
  while (const std::optional<std::string> message = reader.next()) {
    if (!chat.take(*message)) return {};
    if (reader.interactive()) interrupt.clear();  // Ctrl-C has ended the answer, and that is all it does.
  }
  if (reader.interactive()) fmt::print(stderr, "\n");
  if (!reader.interactive() && interrupt.raised()) return fail(ErrorCode::kCancelled, "interrupted");
  return {};
}

}  // namespace plait
