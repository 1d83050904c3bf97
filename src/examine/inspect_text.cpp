// Inspection as lines of text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "cache/state_cost.h"
#include "examine/inspect.h"
#include "examine/values.h"

namespace plait {
namespace {

constexpr std::size_t kShownText = 60;  // Of a metadata string, in bytes.
constexpr std::size_t kShownElements = 6;

// "1.75 GiB", "98.4 MiB", "512 bytes".
std::string size_text(std::size_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value < 9.995 ? fmt::format("{:.2f} {}", value, kUnits[unit]) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// "134.5 M", "4.2 G", "384".
std::string count_text(std::int64_t count) {
  if (count >= 1'000'000'000) return fmt::format("{:.2f} G", static_cast<double>(count) * 1e-9);
  if (count >= 1'000'000) return fmt::format("{:.1f} M", static_cast<double>(count) * 1e-6);
  return fmt::format("{}", count);
}

std::string tensors_text(std::size_t count) { return fmt::format("{} tensor{}", count, count == 1 ? "" : "s"); }

struct MetadataText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{:g}", value); }
  std::string operator()(std::string_view value) const {
    if (value.size() <= kShownText) return fmt::format("\"{}\"", printable(value));
    // Cut between characters: a character cut in two would be shown as bytes.
    std::size_t end = kShownText;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0u) == 0x80u) --end;
    return fmt::format("\"{}\"... ({} bytes)", printable(value.substr(0, end)), value.size());
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(values.size(), kShownElements); ++i) {
      shown.push_back((*this)(static_cast<T>(values[i])));
    }
    if (values.size() > kShownElements) return fmt::format("[{}, ... ({})]", fmt::join(shown, ", "), values.size());
    return fmt::format("[{}]", fmt::join(shown, ", "));
  }
};

using Lines = std::back_insert_iterator<std::string>;

void item(Lines out, std::string_view what, const std::string& text) { fmt::format_to(out, "{:<14}{}\n", what, text); }

void write_formats(Lines out, const Inspection& inspection) {
  std::string_view what = "formats";
  for (const FormatShare& share : inspection.formats) {
    const double part =
        inspection.bytes > 0 ? 100.0 * static_cast<double>(share.bytes) / static_cast<double>(inspection.bytes) : 0;
    item(out, what,
         fmt::format("{:<8} {:5.1f} % of the bytes, {} in {}", share.format, part, size_text(share.bytes),
                     tensors_text(static_cast<std::size_t>(share.tensors))));
    what = "";
  }
}

void write_tokenizer(Lines out, const Inspection& inspection) {
  const TokenizerSummary& tokenizer = inspection.tokenizer;
  if (tokenizer.model.empty()) {
    item(out, "tokenizer", "none in the file");
  } else {
    std::string text = fmt::format("{}{}, {} tokens", tokenizer.model,
                                   tokenizer.pre.empty() ? "" : " / " + tokenizer.pre, tokenizer.tokens);
    if (tokenizer.merges > 0) text += fmt::format(", {} merges", tokenizer.merges);
    if (tokenizer.bos >= 0) text += fmt::format(", bos {}", tokenizer.bos);
    if (tokenizer.eos >= 0) text += fmt::format(", eos {}", tokenizer.eos);
    item(out, "tokenizer", text);
  }
  item(out, "template",
       inspection.template_bytes > 0 ? fmt::format("in the file, {} bytes", inspection.template_bytes)
                                     : "none in the file; ChatML is used");
}

bool same_layer(const LayerInfo& a, const LayerInfo& b) { return a.mixer == b.mixer && a.ffn == b.ffn; }

// "0-5", where equal layers follow each other.
void write_layers(Lines out, const ModelSpec& spec) {
  item(out, "layers", fmt::format("{}, width {}, vocabulary {}", spec.layers.size(), spec.dim, spec.vocabulary));
  for (std::size_t begin = 0; begin < spec.layers.size();) {
    std::size_t end = begin + 1;
    while (end < spec.layers.size() && same_layer(spec.layers[begin], spec.layers[end])) ++end;
    const std::string range = end == begin + 1 ? fmt::format("{}", begin) : fmt::format("{}-{}", begin, end - 1);
    item(out, "", fmt::format("{:<8} {}; {}", range, spec.layers[begin].mixer, spec.layers[begin].ffn));
    begin = end;
  }
}

void write_memory(Lines out, const Inspection& inspection, bool plan) {
  const MemorySummary& memory = inspection.memory;
  item(out, "context", fmt::format("trained for {} tokens", inspection.spec.trained_context));
  item(out, "memory",
       fmt::format("{} for the weights, {} for each token of context", size_text(memory.weight_bytes),
                   size_text(memory.token_bytes)));
  if (memory.anchor_bytes > 0)
    item(out, "",
         fmt::format("{} for each anchor of a sequence, {} for each token since it", size_text(memory.anchor_bytes),
                     size_text(memory.chunk_token_bytes)));
  item(out, "", fmt::format("{} for a context of {} tokens", size_text(memory.context_bytes), memory.context));
  if (!plan) return;
  item(out, "plan", fmt::format("{:>12}  weights", size_text(memory.weight_bytes)));
  item(out, "", fmt::format("{:>12}  rows and anchors of {} tokens", size_text(memory.context_bytes), memory.context));
  item(out, "",
       fmt::format("{:>12}  scratch of a step, activations of {} bits", size_text(memory.scratch_bytes),
                   memory.activations));
  item(out, "",
       fmt::format("{:>12}  together", size_text(memory.weight_bytes + memory.context_bytes + memory.scratch_bytes)));
  for (std::size_t i = 0; i < inspection.spec.layers.size(); ++i) {
    const StateSpec& state = inspection.spec.layers[i].state;
    std::string text = fmt::format("layer {:<4} {} a token", i, size_text(row_bytes(state)));
    if (state.anchor_bytes > 0)
      text += fmt::format(", anchors of {} every {} tokens", size_text(static_cast<std::size_t>(state.anchor_bytes)),
                          kChunkTokens);
    item(out, "", text);
  }
}

void write_run(Lines out, const RunReport& run) {
  std::string_view what = "computed by";
  for (const std::string& line : report_lines(run)) {
    item(out, what, line);
    what = "";
  }
}

void write_tensors(Lines out, const ModelFile& file) {
  std::size_t widest = 0;
  for (const RawTensor& tensor : file.tensors()) widest = std::max(widest, tensor.name.size());
  fmt::format_to(out, "\n");
  for (const RawTensor& tensor : file.tensors()) {
    fmt::format_to(out, "{:<{}}  {:<8} {:<24} {}\n", printable(tensor.name), widest, tensor.format->info.name,
                   shape_text(tensor), size_text(tensor.bytes));
  }
}

void write_metadata(Lines out, const ModelFile& file) {
  fmt::format_to(out, "\n");
  for (const MetadataEntry& entry : file.metadata()) {
    fmt::format_to(out, "{} = {}\n", printable(entry.key), std::visit(MetadataText{}, entry.value));
  }
}

}  // namespace

std::string inspection_text(const Inspection& inspection, const ModelFile& file, const InspectParts& parts) {
  std::string text;
  const Lines out(text);
  item(out, "file", inspection.path);
  if (!inspection.name.empty()) item(out, "name", inspection.name);
  item(out, "architecture", inspection.architecture.empty() ? "not named" : inspection.architecture);
  if (!inspection.problem.empty()) item(out, "cannot run", inspection.problem);
  const double bits =
      inspection.values > 0 ? 8.0 * static_cast<double>(inspection.bytes) / static_cast<double>(inspection.values) : 0;
  item(out, "parameters",
       fmt::format("{} in {}, {}, {:.2f} bits each", count_text(inspection.values), tensors_text(file.tensors().size()),
                   size_text(inspection.bytes), bits));
  write_formats(out, inspection);
  if (inspection.problem.empty()) {
    write_layers(out, inspection.spec);
    write_memory(out, inspection, parts.plan);
    if (parts.plan && !inspection.run.isa.empty()) write_run(out, inspection.run);
  }
  write_tokenizer(out, inspection);
  for (const std::string& note : inspection.notes) item(out, "note", printable(note));
  if (!inspection.problem.empty()) write_metadata(out, file);
  if (parts.tensors) write_tensors(out, file);
  return text;
}

}  // namespace plait
