// The commands of the program, and what they share: how one is added, how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"

namespace plait {

// Exit statuses of the program.
constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

// What lives from the first to the last line of main.
class Context {
 public:
  // When the process started, as far as the program can know.
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  int exit_status = kExitDone;

  // Makes a T that lives as long as the context: the place for a command's options.
  template <class T>
  T& make() {
    T* made = new T();
    kept_.emplace_back(made, [](void* pointer) { delete static_cast<T*>(pointer); });
    return *made;
  }

  // A command returns this when its flags do not fit together: the exit status is then 2, not 1.
  Unexpected usage(std::string message) {
    exit_status = kExitUsage;
    return fail(ErrorCode::kInvalidArgument, std::move(message));
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> kept_;
};

enum class CommandGroup { kUse, kExamine };

struct CommandText {
  const char* name;
  const char* summary;   // One line, for the list of commands.
  const char* examples;  // Command lines, one a line, for the end of the command's --help.
};

// Adds a command without flags or work. The result lives as long as `app`.
CLI::App& add_command(CLI::App& app, CommandGroup group, const CommandText& text);

// `work` is called once the command line is read. Its error is printed as one sentence and sets the exit status:
// 130 for kCancelled, 2 after Context::usage, else 1.
void on_run(CLI::App& command, Context& context, std::function<Result<void>()> work);

// "plait: MESSAGE" on standard error, one line, without terminal codes that the message may have from a file.
void print_error(std::string_view message);

// Running text with control characters other than tab and newline as U+FFFD: safe to show on a terminal.
std::string without_terminal_codes(std::string_view text);

// One function a command, each in a file of that name; main.cpp lists them.
void add_bench(CLI::App& app, Context& context);
void add_detokenize(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_logits(CLI::App& app, Context& context);
void add_make(CLI::App& app, Context& context);
void add_pull(CLI::App& app, Context& context);
void add_render(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_tokenize(CLI::App& app, Context& context);
void add_values(CLI::App& app, Context& context);

}  // namespace plait
