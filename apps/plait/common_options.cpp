// The flags that all commands which run a model share.
#include "common_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace plait {
namespace {

// What CLI11 asks of a validator: empty, or what is wrong.
std::string bytes_fault(const std::string& text) {
  const Result<size_t> bytes = parse_bytes(text);
  return bytes ? "" : bytes.error().message;
}

std::string seed_fault(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (code == std::errc() && rest == text.data() + text.size()) return "";
  return fmt::format("'{}' is no seed: a whole number from 0 to {} is wanted", text,
                     std::numeric_limits<std::uint64_t>::max());
}

std::string activations_fault(const std::string& text) {
  if (text == "8" || text == "16" || text == "32") return "";
  return fmt::format("'{}' is no width of activations: 8, 16 or 32 is wanted", text);
}

void add_arithmetic_flags(CLI::App& command, CommonOptions& options) {
  constexpr const char* kGroup = "Machine";
  command.add_option("-t,--threads", options.threads, "threads that compute; default: the performance cores")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->group(kGroup);
  command.add_flag("!--no-pin", options.pin, "let threads run on any core")->group(kGroup);
  command.add_option("--isa", options.isa, "instruction set: scalar, avx2, avx512, ...; default: the best here")
      ->check([](const std::string& name) { return name.empty() ? "is empty, and a name is wanted" : ""; })
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_option("--activations", options.activations, "bits of activations: 8 (default), 16 (finer) or 32 (floats)")
      ->check(CLI::Validator(activations_fault, "", "activations"))
      ->type_name("BITS")
      ->group(kGroup);
  command.add_flag("--mlock", options.lock_memory, "keep the weights in memory: never swapped out")->group(kGroup);
  command.add_flag("!--no-mmap", options.map_file, "read the file instead of mapping it")->group(kGroup);
  command
      .add_flag("--repack-cache", options.repack_cache,
                "keep the weights as the kernels read them in MODEL.repack, and load them from there")
      ->group(kGroup);
  command.add_flag("!--no-check", options.check, "skip the scan of the weights for broken numbers")->group(kGroup);
}

void add_context_flags(CLI::App& command, CommonOptions& options) {
  constexpr const char* kGroup = "Context";
  command
      .add_option("-c,--ctx-size", options.context_size,
                  "tokens of context; default: as trained, at most 4096; 0: as trained")
      ->check(CLI::Range(0, 1 << 30))
      ->type_name("N")
      ->group(kGroup);
  command.add_option("-b,--batch-size", options.batch_size, "most tokens in one step; default: 512")
      ->check(CLI::Range(1, 1 << 16))
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--mem", [&options](const std::string& text) { options.memory_bytes = *parse_bytes(text); },
          "memory for the context, as 800M or 2G; default: what -c needs, at most half of what is free")
      ->check(CLI::Validator(bytes_fault, "", "bytes"))
      ->type_name("BYTES")
      ->group(kGroup);
  const CLI::IsMember types({"f32", "f16", "bf16"});
  command.add_option("--cache-type-k", options.cache_type_k, "type of cached keys: f32, f16 (default), bf16")
      ->check(types)
      ->type_name("TYPE")
      ->group(kGroup);
  command.add_option("--cache-type-v", options.cache_type_v, "type of cached values: f32, f16 (default), bf16")
      ->check(types)
      ->type_name("TYPE")
      ->group(kGroup);
}

}  // namespace

CLI::Validator seed_range() { return CLI::Validator(seed_fault, "", "seed"); }

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("-s,--seed", options.seed, "seed of all random choices; default: a fresh one")
      ->check(seed_range())
      ->type_name("N");
  command.add_flag("-v,--verbose", options.verbose, "say more on standard error");
  add_context_flags(command, options);
  add_arithmetic_flags(command, options);
}

Result<size_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string suffix(rest, text.data() + text.size());
  for (char& c : suffix) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  double scale = 0;
  if (suffix.empty() || suffix == "B") scale = 1;
  constexpr std::string_view kPrefixes = "KMGT";
  for (size_t i = 0; i < kPrefixes.size(); ++i) {
    const std::string prefix(1, kPrefixes[i]);
    if (suffix == prefix || suffix == prefix + "B" || suffix == prefix + "IB")
      scale = std::ldexp(1.0, 10 * (static_cast<int>(i) + 1));
  }
  const double bytes = number * scale;
  if (code != std::errc() || scale == 0 || !(bytes >= 1) || bytes >= 0x1p62) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no amount of memory: a number with K, M or G is wanted", text));
  }
  return static_cast<size_t>(bytes);
}

}  // namespace plait
