// plait render: messages to text by a chat template.
#include "examine/render.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "commands.h"
#include "id_list.h"
#include "model_options.h"
#include "model_store.h"

namespace plait {
namespace {

struct RenderCommand {
  std::string model, template_path, messages_path;
  bool lines = false;
};

Result<ModelTemplate> find_template(const RenderCommand& command) {
  if (!command.template_path.empty()) {
    Result<std::string> source = read_text_file(command.template_path);
    if (!source) return fail(source.error());
    return ModelTemplate{.source = std::move(*source)};
  }
  if (command.model.empty()) return ModelTemplate{};
  const Result<std::string> path = resolve_model(command.model);
  if (!path) return fail(path.error());
  const Result<std::unique_ptr<ModelFile>> file = open_model_file(*path);
  if (!file) return fail(file.error());
  ModelTemplate found = model_template(**file);
  if (found.is_fallback) print_notes({fmt::format("{} brings no chat template; ChatML is used", command.model)});
  return found;
}

Result<void> render_lines(const ModelTemplate& model) {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string answer = render_line(model, line) + "\n";
    if (std::fwrite(answer.data(), 1, answer.size(), stdout) != answer.size())
      return fail(ErrorCode::kIo, "render: the output could not be written");
  }
  return {};
}

Result<void> run_render(const RenderCommand& command, Context& context) {
  if (!command.model.empty() && !command.template_path.empty())
    return context.usage("render: MODEL and --template name one template too many");
  if (command.lines != command.messages_path.empty())
    return context.usage("render: exactly one of --messages and --lines is wanted");
  if (!command.lines && command.model.empty() && command.template_path.empty())
    return context.usage("render: MODEL or --template is wanted");
  const Result<ModelTemplate> model = find_template(command);
  if (!model) return fail(model.error());
  if (command.lines) return render_lines(*model);
  const Result<std::string> messages = read_text_file(command.messages_path);
  if (!messages) return fail(messages.error());
  const Result<std::string> text = render_messages(*model, *messages);
  if (!text) return fail(text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return {};
}

}  // namespace

void add_render(CLI::App& app, Context& context) {
  RenderCommand& options = context.make<RenderCommand>();
  CLI::App& command = add_command(app, CommandGroup::kExamine,
                                  {.name = "render",
                                   .summary = "messages to text by a chat template",
                                   .examples = "  plait render smollm2 --messages chat.json\n"
                                               "  plait render --template chat.jinja --messages chat.json\n"
                                               "  plait render --lines < requests.jsonl"});
  command.add_option("model", options.model, "a .gguf file or a name that pull knows")->type_name("MODEL");
  command.add_option("--template", options.template_path, "a template file, instead of a model's")->type_name("FILE");
  command
      .add_option("--messages", options.messages_path, "JSON: a list of messages, or an object of variables with them")
      ->type_name("FILE");
  command.add_flag("--lines", options.lines, "one JSON object a line in, one {\"text\"} or {\"error\"} a line out");
  on_run(command, context, [&options, &context] { return run_render(options, context); });
}

}  // namespace plait
