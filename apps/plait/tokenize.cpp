// plait tokenize: text to token ids.
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "examine/tokens.h"
#include "id_list.h"
#include "model_options.h"
#include "model_store.h"
#include "token_lines.h"

namespace plait {
namespace {

struct TokenizeOptions {
  std::vector<std::string> words;  // MODEL and TEXT, as far as they are given.
  std::string file, pre;
  bool lines = false, pieces = false, no_bos = false, plain = false, hex = false;

  EncodeOptions encode() const { return {.add_special = !no_bos, .parse_special = !plain}; }
};

// Where the text and the model stand among the words.
struct Words {
  std::string model, text;
};

Result<Words> read_words(const TokenizeOptions& options, Context& context) {
  const std::size_t texts = options.lines || !options.file.empty() ? 0 : 1;
  const bool no_model = options.pieces && !options.pre.empty() && options.words.size() == texts;
  const std::size_t wanted = texts + (no_model ? 0 : 1);
  if (options.words.size() != wanted) {
    return context.usage(
        options.words.size() < wanted
            ? "plait tokenize needs a MODEL, and a TEXT, --file or --lines; --pieces needs a MODEL or --pre"
            : "plait tokenize takes one MODEL and one text: TEXT, --file or --lines");
  }
  Words words;
  if (!no_model) words.model = options.words.front();
  if (texts == 1) words.text = options.words.back();
  return words;
}

// What is done with a text, and with a line that holds one.
struct Work {
  std::function<Result<std::string>(std::string_view)> text, line;
};

Result<Work> split_work(const TokenizeOptions& options, const std::string& pre) {
  Result<PreTokenizer> made = PreTokenizer::make(options.pre.empty() ? pre : options.pre);
  if (!made) return fail(made.error());
  const auto splitter = std::make_shared<const PreTokenizer>(std::move(*made));
  return Work{[splitter](std::string_view text) { return split_to_json(*splitter, text); },
              [splitter](std::string_view line) { return split_line(*splitter, line); }};
}

Work encode_work(const Tokenizer& tokenizer, const EncodeOptions& encode) {
  return {[&tokenizer, encode](std::string_view text) -> Result<std::string> {
            const Result<std::vector<Token>> ids = tokenizer.encode(text, encode);
            if (!ids) return fail(ids.error());
            return ids_to_json(*ids);
          },
          [&tokenizer, encode](std::string_view line) { return tokenize_line(tokenizer, line, encode); }};
}

Result<void> print_work(const TokenizeOptions& options, const std::string& word, const Work& work) {
  if (options.lines) return answer_lines(work.line);
  Result<std::string> text = options.file.empty() ? Result<std::string>(word) : read_text_file(options.file);
  if (text && options.hex) text = bytes_of_hex(*text);
  if (!text) return fail(text.error());
  const Result<std::string> answer = work.text(*text);
  if (!answer) return fail(answer.error());
  fmt::print("{}\n", *answer);
  return {};
}

Result<void> tokenize(const TokenizeOptions& options, Context& context) {
  const Result<Words> words = read_words(options, context);
  if (!words) return fail(words.error());
  std::unique_ptr<Tokenizer> tokenizer;
  if (!words->model.empty()) {
    const Result<std::string> path = resolve_model(words->model);
    if (!path) return fail(path.error());
    std::vector<std::string> notes;
    Result<std::unique_ptr<Tokenizer>> opened = open_tokenizer(*path, options.pre, &notes);
    if (!opened) return fail(opened.error());
    tokenizer = std::move(*opened);
    print_notes(notes);
  }
  if (!options.pieces) return print_work(options, words->text, encode_work(*tokenizer, options.encode()));
  const Result<Work> work = split_work(options, tokenizer == nullptr ? "" : tokenizer->vocabulary().pre);
  if (!work) return fail(work.error());
  return print_work(options, words->text, *work);
}

}  // namespace

void add_tokenize(CLI::App& app, Context& context) {
  CLI::App& command = add_command(app, CommandGroup::kExamine,
                                  {.name = "tokenize",
                                   .summary = "text to token ids",
                                   .examples = "  plait tokenize smollm2 \"Hello world\"\n"
                                               "  plait tokenize smollm2 --file book.txt --no-bos\n"
                                               "  plait tokenize --pre llama-bpe --pieces \"It's 2024\""});
  auto& options = context.make<TokenizeOptions>();
  command.add_option("MODEL", options.words, "a .gguf file or a model's name, then the TEXT")->expected(0, 2);
  command.add_option("--file", options.file, "take the text from this file");
  command.add_flag("--lines", options.lines,
                   "read one JSON object a line: {\"text\" or \"hex\", \"add_special\", \"parse_special\"}");
  command.add_option("--pre", options.pre, "this pre-tokenizer instead of the file's, without normalization");
  command.add_flag("--pieces", options.pieces, "print what the pre-tokenizer cuts the text into");
  command.add_flag("--no-bos", options.no_bos, "add no BOS and no EOS");
  command.add_flag("--plain", options.plain, "text that spells a special token is ordinary text");
  command.add_flag("--hex", options.hex, "the text is written as hexadecimal bytes");
  on_run(command, context, [&options, &context] { return tokenize(options, context); });
}

}  // namespace plait
