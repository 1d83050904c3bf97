// Recorded models and their logits (tests/golden/models, tests/golden/real), and how far ours are from them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "examine/logits.h"

namespace plait::test {

std::filesystem::path golden_dir();

nlohmann::json read_json(const std::filesystem::path& path);
template <class T>
std::vector<T> read_numbers(const std::filesystem::path& path);  // float, double and int are there.

// Sum of squared differences over the sum of squares of what is wanted; infinite if anything is not finite.
double nmse(std::span<const float> got, std::span<const float> want);

struct RunWith {
  RowType rows = RowType::kF32;  // Of keys and values.
  int threads = 2;
  std::string isa = {};
  int activations = 8;
  int chunk = 0;
  int company = 0;
  bool hidden = false;
};

struct RunResult {
  std::vector<float> logits;  // [positions, vocabulary]
  std::vector<float> hidden;
  int vocabulary = 0;
};

// Loads the model and runs it over the ids; a failure ends the test program, with its message.
RunResult run_logits(const std::string& path, std::vector<Token> ids, std::vector<int> positions, const RunWith& with);
// The same over a model that is already open.
RunResult run_logits(Session& session, std::vector<Token> ids, std::vector<int> positions, const RunWith& with);
Session open_for(const std::string& path, const LogitsRequest& request, const RunWith& with);

}  // namespace plait::test
