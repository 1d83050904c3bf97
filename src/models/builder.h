// Builder: how an architecture's function reads metadata and asks for weights, with one error at the end.
//
// The same function runs over three sources: a file to load, a file to list (names, shapes and memory; no weights are
// read), and a plan (metadata alone: which tensors such a model has; `plait make` then invents them).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/scope.h"
#include "io/model_file.h"
#include "io/repack_cache.h"
#include "models/model.h"

namespace plait {

constexpr int kMaxLayers = 512;

enum class BuildMode { kLoad, kList, kPlan };

struct BuildOptions {
  BuildMode mode = BuildMode::kList;
  Backend* backend = nullptr;  // Needed to load; sizes of a listing are the file's without it.
  RowType key_type = RowType::kF16, value_type = RowType::kF16;
  bool check_values = true;   // Scan for NaN and infinity while loading.
  bool repack_cache = false;  // Keep the packed weights in PATH.repack, and read them from there (io/repack_cache.h).
  bool plan_tied = true;      // A plan's head is the embedding table.
  std::function<void(std::size_t done_bytes, std::size_t total_bytes)> progress;
};

class Builder final : private WeightSource {
 public:
  Builder(const ModelFile& file, std::string architecture, const BuildOptions& options);

  // Metadata under "{architecture}.": whole numbers in [0, 2^24] (positive: in [1, 2^24]), or the fallback; without a
  // fallback the key must be there.
  int integer(std::string_view key, std::optional<int> fallback = {});
  int positive(std::string_view key, std::optional<int> fallback = {});
  // One for each layer: the key's list, or its single number for all.
  std::vector<int> integers(std::string_view key, int layers);
  double number(std::string_view key, std::optional<double> fallback = {});
  std::string text(std::string_view key, std::string_view fallback);
  bool flag(std::string_view key, bool fallback);
  bool has_key(std::string_view key) const;
  // A sentence for the user about this file.
  void note(const std::string& sentence);
  // Blocks from this one on are those of multi-token prediction: they are listed, and not asked for.
  void trunk(int layers) { trunk_ = layers; }
  // Remembers an error about this file unless `condition`.
  void require(bool condition, const std::string& message);

  bool good() const { return !error_; }

  const BuildOptions& options() const { return options_; }
  // Entries of tokenizer.ggml.tokens, or {a}.vocab_size.
  int vocabulary();
  Scope model() { return Scope(*this, ""); }
  Scope layer(int index);
  NormWeight norm(Scope scope, std::string_view name, int width);  // With attention.layer_norm_rms_epsilon.
  // Adds a rotary embedding to the model and returns its number.
  int rope(const RopeSpec& spec);
  // Values of a small f32 vector, read now; empty if it is not there.
  std::vector<float> floats(std::string_view name, int count);

  void embed(const Weight* table);
  void add(ResidualParts parts);
  // `matrix` null: tied to the embedding table.
  void head(NormWeight norm, const Weight* matrix);

  // The model, or the first error. Loading happens here.
  Result<Model> finish();

  const std::vector<TensorPlan>& plan() const { return plan_; }
  // Sentences for the user: tensors that nobody asked for.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Request {
    Weight* weight;
    const RawTensor* raw;
    TensorPlan plan;
  };

  const Weight* request(const TensorPlan& tensor, Presence presence) override;
  float scalar(const std::string& name, float fallback) override;
  bool has(const std::string& name) const override;

  const MetadataValue* find(std::string_view key) const;
  std::string full_key(std::string_view key) const;
  void error(ErrorCode code, const std::string& message);
  bool check_shape(const RawTensor& raw, const TensorPlan& plan);
  Weight* add_weight(const RawTensor* raw, const TensorPlan& plan);
  Result<void> load_weights();
  Result<void> pack_weights();
  void place_weights();
  RepackStamp repack_stamp() const;
  // Where the packed weights are kept; empty: nowhere.
  std::string repack_path() const;
  bool read_repacked();
  void write_repacked();
  Weight load_stack(const RawTensor& raw, const TensorPlan& plan, std::size_t offset);
  void describe();
  void note_unused();

  const ModelFile& file_;
  std::string architecture_;
  BuildOptions options_;
  Model model_;
  std::vector<Request> requests_;
  std::unordered_map<std::string, const Weight*> weights_;  // By name: asked for twice, held once.
  std::unordered_set<std::string> used_;
  std::vector<TensorPlan> plan_;
  std::vector<std::string> notes_;
  std::vector<std::string> rounded_;  // Tensors in a block format that should be floats.
  std::optional<Error> error_;
  int trunk_ = kMaxLayers;
};

}  // namespace plait
