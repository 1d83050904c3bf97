// RunReport: collected from the file's tensors and what the backend says of itself.
#include "engine/run_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace plait {
namespace {

double mib(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

RunReport run_report(const ModelFile& file, const Backend& backend) {
  RunReport report;
  report.isa = backend.name();
  report.threads = backend.threads();
  report.activations = backend.activations();
  report.places = backend.places_text();
  for (const RawTensor& tensor : file.tensors()) {
    if (tensor.dimensions < 2) continue;  // Vectors are not multiplied with.
    const std::string_view format = tensor.format->info.name;
    auto found = std::find_if(report.kernels.begin(), report.kernels.end(),
                              [&](const KernelChoice& choice) { return choice.format == format; });
    if (found == report.kernels.end()) {
      report.kernels.push_back({.format = std::string(format), .kernel = backend.kernel_for(*tensor.format)});
      found = report.kernels.end() - 1;
    }
    ++found->tensors;
    found->bytes += tensor.bytes;
  }
  std::stable_sort(report.kernels.begin(), report.kernels.end(),
                   [](const KernelChoice& a, const KernelChoice& b) { return a.bytes > b.bytes; });
  return report;
}

std::vector<std::string> report_lines(const RunReport& report) {
  std::size_t all = 0;
  for (const KernelChoice& choice : report.kernels) all += choice.bytes;
  std::string kernels;
  for (const KernelChoice& choice : report.kernels) {
    const double part = all > 0 ? 100.0 * static_cast<double>(choice.bytes) / static_cast<double>(all) : 0;
    kernels += fmt::format("{}{}: {} ({} {}, {:.1f} % of the bytes)", kernels.empty() ? "" : "; ", choice.format,
                           choice.kernel, choice.tensors, choice.tensors == 1 ? "matrix" : "matrices", part);
  }
  return {fmt::format("instruction set: {}, activations of {} bits", report.isa, report.activations),
          fmt::format("kernels: {}", kernels), fmt::format("threads: {}", report.places)};
}

std::string memory_line(const RunMemory& memory) {
  return fmt::format("memory: {:.1f} MiB of weights, {:.1f} MiB of cache, {:.1f} MiB of scratch",
                     mib(memory.weight_bytes), mib(memory.cache_bytes), mib(memory.scratch_bytes));
}

}  // namespace plait
