// From the common flags to the options of an engine.
#include "engine_options.h"

#include <fmt/format.h>

#include "model_options.h"

namespace plait {
namespace {

CacheType cache_type(const std::string& name) {
  if (name == "f32") return CacheType::kF32;
  return name == "bf16" ? CacheType::kBF16 : CacheType::kF16;
}

}  // namespace

Result<EngineOptions> engine_options(const CommonOptions& common, const std::string& model) {
  Result<LoadOptions> load = load_options(common, model);
  if (!load) return fail(load.error());
  EngineOptions engine;
  engine.model = load->path;
  engine.threads = common.threads;
  engine.isa = common.isa;
  engine.pin_threads = common.pin;
  engine.activations = common.activations;
  engine.context = common.context_size;
  engine.cache_bytes = common.memory_bytes;
  engine.cache_type_k = cache_type(common.cache_type_k);
  engine.cache_type_v = cache_type(common.cache_type_v);
  engine.step_tokens = common.batch_size;
  engine.check_values = common.check;
  engine.repack_cache = common.repack_cache;
  engine.use_mmap = common.map_file;
  engine.lock_memory = common.lock_memory;
  engine.load_progress = load->progress;
  return engine;
}

void print_engine(const CommonOptions& common, const ModelInfo& info, double load_s) {
  print_notes(info.notes);
  if (!common.verbose) return;
  fmt::print(stderr, "plait: {} on {} threads with {}, activations of {} bits, context {}, loaded in {:.2f} s\n",
             info.architecture, info.threads, info.isa, info.activations, info.context, load_s);
  for (const std::string& line : info.plan) fmt::print(stderr, "plait: {}\n", line);
}

}  // namespace plait
