// From a path to a model that can run.
#include "engine/load.h"

#include <fmt/format.h>

#include "engine/vocabulary_source.h"
#include "models/registry.h"
#include "text/chat_template.h"

namespace plait {
namespace {

Result<void> load_text(Loaded& loaded) {
  Result<Vocabulary> vocabulary = read_vocabulary(*loaded.file);
  if (!vocabulary) return fail(vocabulary.error());
  Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(*vocabulary), &loaded.notes);
  if (!tokenizer) {
    return fail(tokenizer.error().code, fmt::format("{}: {}", loaded.file->path(), tokenizer.error().message));
  }
  loaded.tokenizer = std::move(*tokenizer);
  const MetadataValue* source = loaded.file->find_metadata("tokenizer.chat_template");
  const auto* text = source != nullptr ? std::get_if<std::string_view>(source) : nullptr;
  if (text != nullptr) {
    loaded.chat_template = std::string(*text);
  } else {
    loaded.chat_template = std::string(kChatMlTemplate);
    loaded.notes.push_back(fmt::format("{}: the file has no chat template; ChatML is used", loaded.file->path()));
  }
  return {};
}

}  // namespace

Result<Loaded> load_model(const LoadOptions& options) {
  Loaded loaded;
  Result<std::unique_ptr<ModelFile>> file = open_model_file(options.path, options.file);
  if (!file) return fail(file.error());
  loaded.file = std::move(*file);
  // The cheap refusals first: an unknown architecture, a vocabulary that makes no sense.
  if (const auto known = architecture_of(*loaded.file); !known) return fail(known.error());
  if (options.tokenizer) {
    if (Result<void> text = load_text(loaded); !text) return fail(text.error());
  }
  Result<std::unique_ptr<Backend>> backend = make_cpu_backend(options.cpu);
  if (!backend) return fail(backend.error());
  loaded.backend = std::move(*backend);
  const KeptThread kept = loaded.backend->keep_caller();  // It packs what the first worker will read.
  Result<Model> model = build_model(*loaded.file,
                                    {.mode = BuildMode::kLoad,
                                     .backend = loaded.backend.get(),
                                     .key_type = options.key_type,
                                     .value_type = options.value_type,
                                     .check_values = options.check_values,
                                     .repack_cache = options.repack_cache,
                                     .progress = options.progress},
                                    &loaded.notes);
  if (!model) return fail(model.error());
  loaded.model = std::make_unique<Model>(std::move(*model));
  return loaded;
}

}  // namespace plait
