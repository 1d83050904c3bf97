// SmolLM2-135M-Instruct, where its file is there: against the float64 pass over its dequantized weights, and its bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "examine/perplexity.h"
#include "formats/all.h"
#include "io/model_file.h"
#include "models/registry.h"
#include "support/golden_model.h"
#include "support/interleaving.h"
#include "support/model_properties.h"
#include "support/widened_file.h"

namespace plait::test {
namespace {

// Limits of golden/README: of int8 activations with one scale for each 32, and of float arithmetic.
struct Limits {
  double nmse_all, nmse_run, kl, nats;
};
constexpr Limits kInt8{2.5e-3, 6e-3, 0.01, 0.012};
constexpr Limits kFloat{1e-9, 1e-9, 1e-6, 1e-4};
// Steps 256 times as small: errors of int8 by 256, their squares by 65,536, and room for rows in half precision.
constexpr Limits kInt16{1e-6, 1e-6, 1e-5, 1e-4};

std::string smollm2_path() { return PLAIT_SMOLLM2; }

bool is_there() { return !smollm2_path().empty() && std::filesystem::exists(smollm2_path()); }

std::filesystem::path real_dir() { return golden_dir() / "real" / "smollm2"; }

struct Sums {
  double error = 0, power = 0, kl = 0;
  int rows = 0;
};

// One recorded run: logits at fixed ids, and the divergence over the 64 likeliest.
Sums compare_run(Session& session, int k, const std::vector<Token>& ids) {
  const auto file = [&](const char* kind) { return real_dir() / ("logits-" + std::to_string(k) + kind); };
  const std::vector<int> fixed = read_numbers<int>(real_dir() / "fixed.i32"),
                         top_ids = read_numbers<int>(file(".top.i32"));
  const std::vector<float> fixed_logits = read_numbers<float>(file(".fixed.f32")),
                           top_logits = read_numbers<float>(file(".top.f32"));
  const std::vector<double> lse = read_numbers<double>(file(".lse.f64"));
  std::vector<int> positions(ids.size());
  std::iota(positions.begin(), positions.end(), 0);
  const RunResult got = run_logits(session, ids, positions, {});
  const std::size_t top = top_ids.size() / ids.size(), width = static_cast<std::size_t>(got.vocabulary);
  Sums sums;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const std::span<const float> row = std::span(got.logits).subspan(t * width, width);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      const double want = fixed_logits[t * fixed.size() + i],
                   difference = row[static_cast<std::size_t>(fixed[i])] - want;
      sums.error += difference * difference;
      sums.power += want * want;
    }
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit));
    for (std::size_t i = 0; i < top; ++i) {
      const double p = top_logits[t * top + i] - lse[t];
      const double q = row[static_cast<std::size_t>(top_ids[t * top + i])] - std::log(sum);
      sums.kl += std::exp(p) * (p - q);
    }
    ++sums.rows;
  }
  return sums;
}

void expect_within(Session& session, const Limits& limits) {
  const nlohmann::json recorded = read_json(real_dir() / "logits.json");
  Sums all;
  for (std::size_t k = 0; k < recorded["runs"].size(); ++k) {
    const Sums sums = compare_run(session, static_cast<int>(k), recorded["runs"][k]["ids"]);
    EXPECT_LE(sums.error / sums.power, limits.nmse_run) << "run " << k;
    all.error += sums.error;
    all.power += sums.power;
    all.kl += sums.kl;
    all.rows += sums.rows;
  }
  EXPECT_LE(all.error / all.power, limits.nmse_all);
  EXPECT_LE(std::abs(all.kl / all.rows), limits.kl);

  const nlohmann::json ids_file = read_json(real_dir() / "text.ids.json");
  const std::vector<Token> text = ids_file.is_array() ? ids_file : ids_file["ids"];
  const Result<Perplexity> found = perplexity(session, text, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(found->nll, recorded["perplexity"]["reference_f64"]["nats"].get<double>(), limits.nats);
}

// Feeds the reference's greedy text; (gap, same top token) of each step.
std::vector<std::pair<double, bool>> greedy_steps(Session& session) {
  std::vector<std::pair<double, bool>> steps;
  const nlohmann::json recorded = read_json(real_dir() / "prompts.json");
  for (const nlohmann::json& prompt : recorded["prompts"]) {
    std::vector<Token> ids = prompt["ids"];
    const std::vector<Token> continuation = prompt["greedy_f64"]["ids"];
    const std::vector<double> gaps = prompt["greedy_f64"]["gap"];
    std::vector<int> positions(continuation.size());
    std::iota(positions.begin(), positions.end(), static_cast<int>(ids.size()) - 1);
    ids.insert(ids.end(), continuation.begin(), continuation.end() - 1);
    const RunResult got = run_logits(session, ids, positions, {});
    for (std::size_t i = 0; i < continuation.size(); ++i) {
      const auto row = got.logits.begin() + static_cast<std::ptrdiff_t>(i) * got.vocabulary;
      steps.emplace_back(gaps[i], std::max_element(row, row + got.vocabulary) - row == continuation[i]);
    }
  }
  return steps;
}

Session open_smollm2(RowType rows, int activations = 8) {
  LogitsRequest request{.ids = std::vector<Token>(1024)};
  return open_for(smollm2_path(), request, {.rows = rows, .activations = activations});
}

TEST(SmolLm2, StaysWithinTheErrorOfInt8Activations) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  Session session = open_smollm2(RowType::kF16);
  expect_within(session, kInt8);
  int near = 0, near_flips = 0;
  for (const auto& [gap, same] : greedy_steps(session)) {
    EXPECT_TRUE(same || gap < 1) << "a step with gap " << gap << " has another top token";
    if (gap >= 0.25) {
      ++near;
      near_flips += same ? 0 : 1;
    }
  }
  EXPECT_LE(near_flips, 0.03 * near);
}

TEST(SmolLm2, With16BitActivationsIsTheFloat64ReferenceWithinAMillionth) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  Session session = open_smollm2(RowType::kF16, 16);
  expect_within(session, kInt16);
  for (const auto& [gap, same] : greedy_steps(session)) EXPECT_TRUE(same || gap < 0.01) << "gap " << gap;
}

TEST(SmolLm2, With32BitActivationsIsTheFloat64ReferenceWithinFloatRounding) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  Session session = open_smollm2(RowType::kF32, 32);
  expect_within(session, kFloat);
  for (const auto& [gap, same] : greedy_steps(session)) EXPECT_TRUE(same || gap < 0.01) << "gap " << gap;
}

// The same file with every matrix widened to f32 runs in float arithmetic throughout: what the test above allows more
// is the rounding of activations and nothing else.
TEST(SmolLm2, WithWidenedWeightsIsTheFloat64ReferenceWithinFloatRounding) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  Result<std::unique_ptr<ModelFile>> file = open_model_file(smollm2_path());
  ASSERT_TRUE(file) << file.error().message;
  const WidenedFile widened(**file);
  Result<std::unique_ptr<Backend>> backend = make_cpu_backend({.threads = 2, .isa = ""});
  ASSERT_TRUE(backend);
  BuildOptions options;
  options.mode = BuildMode::kLoad;
  options.backend = backend->get();
  options.key_type = options.value_type = RowType::kF32;
  Result<Model> model = build_model(widened, options);
  ASSERT_TRUE(model) << model.error().message;
  Session session{.loaded = {}, .stepper = {}, .memory = {}, .kept = {}};
  session.loaded.backend = std::move(*backend);
  session.loaded.model = std::make_unique<Model>(std::move(*model));
  Result<Stepper> stepper = Stepper::create(*session.loaded.model, *session.loaded.backend,
                                            {.cache_bytes = std::size_t{256} << 20, .max_tokens = 512});
  ASSERT_TRUE(stepper) << stepper.error().message;
  session.stepper = std::move(*stepper);
  expect_within(session, kFloat);
  for (const auto& [gap, same] : greedy_steps(session)) EXPECT_TRUE(same || gap < 0.01) << "gap " << gap;
}

TEST(SmolLm2, HasTheSameBitsUnderEverySchedule) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  for (const int activations : {8, 16}) expect_same_bits(smollm2_path(), 200, activations);
}

TEST(SmolLm2, HasTheSameBitsThroughDraftsForksAndSnapshots) {
  if (!is_there()) GTEST_SKIP() << "PLAIT_SMOLLM2 names no file";
  expect_same_bits_interleaved(smollm2_path(), 1000, 90);
}

}  // namespace
}  // namespace plait::test
