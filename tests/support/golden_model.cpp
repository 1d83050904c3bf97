// Recorded models and their logits.
#include "support/golden_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace plait::test {
namespace {

// Tests have no use for an Error: it means that the setting is broken.
template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::abort();
  }
  return std::move(*result);
}

LogitsRequest request_for(std::vector<Token> ids, std::vector<int> positions, const RunWith& with) {
  return {.ids = std::move(ids),
          .positions = std::move(positions),
          .chunk = with.chunk,
          .company = with.company,
          .hidden = with.hidden};
}

}  // namespace

std::filesystem::path golden_dir() { return PLAIT_GOLDEN_DIR; }

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

template <class T>
std::vector<T> read_numbers(const std::filesystem::path& path) {
  std::vector<T> values(std::filesystem::file_size(path) / sizeof(T));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}
template std::vector<float> read_numbers<float>(const std::filesystem::path&);
template std::vector<double> read_numbers<double>(const std::filesystem::path&);
template std::vector<int> read_numbers<int>(const std::filesystem::path&);

double nmse(std::span<const float> got, std::span<const float> want) {
  double error = 0, power = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - static_cast<double>(want[i]);
    error += difference * difference;
    power += static_cast<double>(want[i]) * static_cast<double>(want[i]);
  }
  const double value = error / power;
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

Session open_for(const std::string& path, const LogitsRequest& request, const RunWith& with) {
  SessionOptions options;
  options.load.path = path;
  options.load.cpu = {.threads = with.threads, .isa = with.isa, .activations = with.activations};
  options.load.key_type = options.load.value_type = with.rows;
  options.load.tokenizer = false;
  size_for(request, options);
  return must(open_session(options));
}

RunResult run_logits(Session& session, std::vector<Token> ids, std::vector<int> positions, const RunWith& with) {
  RunResult result;
  result.vocabulary = session.spec().vocabulary;
  const LogitsRequest request = request_for(std::move(ids), std::move(positions), with);
  const auto keep = [&](int, std::span<const float> row) -> Result<void> {
    result.logits.insert(result.logits.end(), row.begin(), row.end());
    return {};
  };
  result.hidden = must(compute_logits(session, request, keep)).hidden;
  return result;
}

RunResult run_logits(const std::string& path, std::vector<Token> ids, std::vector<int> positions, const RunWith& with) {
  Session session = open_for(path, request_for(ids, positions, with), with);
  return run_logits(session, std::move(ids), std::move(positions), with);
}

}  // namespace plait::test
