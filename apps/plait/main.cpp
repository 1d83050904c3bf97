// The program: reads the command line, runs one command, and turns what happened into an exit status.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "commands.h"
#include "interrupt.h"
#include "suggest.h"

namespace plait {
namespace {

using AddCommand = void (*)(CLI::App& app, Context& context);

// In the order in which --help lists them.
constexpr AddCommand kCommands[] = {
    // use
    add_run,
    add_serve,
    add_pull,
    add_inspect,
    add_bench,
    // examine
    add_eval,
    add_tokenize,
    add_detokenize,
    add_render,
    add_logits,
    add_values,
    add_make,
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unknown(std::string_view kind, const std::string& word, const std::string& owner,
                    std::span<const std::string> known) {
  const std::string near = nearest(word, known);
  const std::string hint =
      near.empty() ? fmt::format("see '{} --help'", owner) : fmt::format("did you mean '{}'?", near);
  return fmt::format("there is no {} '{}' in '{}'; {}", kind, word, owner, hint);
}

// The sentence for a command line that CLI11 refused.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  const CLI::App* command = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
  if (command == nullptr) {
    if (arguments.empty()) return "a command is wanted; see 'plait --help'";
    if (arguments[0].starts_with("-")) return unknown("flag", arguments[0], "plait", flag_names(app));
    return unknown("command", arguments[0], "plait", command_names(app));
  }
  // What the command did not know. It may also be why something else is missing, so it is named first.
  for (const std::string& word : app.remaining(true)) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.size() > 1 && flag[0] == '-')
      return unknown("flag", flag, "plait " + command->get_name(), flag_names(*command));
  }
  std::string what = error.what();
  for (char& c : what) c = c == '\n' ? ' ' : c;
  return fmt::format("{}: {}; see 'plait {} --help'", command->get_name(), what, command->get_name());
}

// Buffered output that could not be written is an error too: a full disk, a closed pipe.
void flush_output(Context& context) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (context.exit_status != kExitDone) return;
  print_error(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
  context.exit_status = kExitFailed;
}

// A descriptor that came closed would be given to the next file opened: a message would land in a model. What is put in
// its place refuses to be written for standard output, so that lost results stay an error, and swallows messages.
void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != descriptor) std::_Exit(kExitFailed);  // Nowhere to say why.
  }
}

// Out of memory on any thread: one sentence and exit status 1, not an abort. Nothing here may allocate.
void give_up_without_memory() {
  constexpr std::string_view kSentence =
      "plait: out of memory; a smaller -c, -b or --mem, or fewer threads, needs less\n";
  if (write(STDERR_FILENO, kSentence.data(), kSentence.size()) < 0) _exit(kExitFailed);
  _exit(kExitFailed);
}

// llama-server's short name of a flag has two letters, which a short name cannot have here.
void know_np(int argc, char** argv) {
  static char parallel[] = "--parallel";
  if (argc < 2 || std::string_view(argv[1]) != "serve") return;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "-np") argv[i] = parallel;
  }
}

int run_program(int argc, char** argv) {
  hold_standard_descriptors();
  Context context;
  std::set_new_handler(give_up_without_memory);
  exit_on_interrupt();
  std::signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error of write, like a full disk.
  CLI::App app("plait runs language models on this machine.", "plait");
  app.set_version_flag("--version", "plait " PLAIT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "MODEL is a .gguf file or a name that 'plait pull' knows.\n"
      "'plait COMMAND --help' shows a command's flags, with examples.\n\n"
      "Examples:\n"
      "  plait pull smollm2\n"
      "  plait run smollm2 -p \"Why is the sky blue?\"");
  for (const AddCommand add : kCommands) add(app, context);

  know_np(argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
  } catch (const CLI::ParseError& error) {
    print_error(usage_fault(app, error, arguments));
    context.exit_status = kExitUsage;
  }
  flush_output(context);
  return context.exit_status;
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) { return plait::run_program(argc, argv); }
