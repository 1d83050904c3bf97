// How a command is added, run and reported.
#include "commands.h"

#include <cstdio>

#include "base/text.h"

namespace plait {

CLI::App& add_command(CLI::App& app, CommandGroup group, const CommandText& text) {
  CLI::App& command = *app.add_subcommand(text.name, text.summary);
  command.group(group == CommandGroup::kUse ? "use" : "examine");
  command.footer(std::string("Examples:\n") + text.examples);
  return command;
}

void on_run(CLI::App& command, Context& context, std::function<Result<void>()> work) {
  command.callback([&context, work = std::move(work)] {
    const Result<void> result = work();
    if (result) return;
    print_error(result.error().message);
    if (context.exit_status != kExitDone) return;  // usage() has set it.
    context.exit_status = result.error().code == ErrorCode::kCancelled ? kExitInterrupted : kExitFailed;
  });
}

void print_error(std::string_view message) {
  const std::string line = "plait: " + printable(message) + "\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string without_terminal_codes(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls (U+0080 to U+009F) are c2 80 to c2 9f; terminals obey them too.
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
        static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      out += kReplacement;
      ++i;
    } else if ((byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7f) {
      out += kReplacement;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace plait
