// A trained hybrid (tests/golden/real/tiny-hybrid): against its float64 reference, in every format that is there.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "examine/perplexity.h"
#include "support/golden_model.h"

namespace plait::test {
namespace {

struct Format {
  const char* name;
  const char*
      peer;  // The recorded errors of another engine with 8-bit activations. Null: float weights and arithmetic.
  // Of the perplexity. Rounding moves it either way: the peer's recorded differences are 2e-5 and 0.0097.
  double nats;
};
constexpr Format kFormats[] = {
    {"f16", nullptr, 1e-4}, {"q8_0", "llama_cpp_q8_0", 5e-4}, {"q4_k", "llama_cpp_q4_k", 0.0097}};
constexpr double kFloatNmse = 1e-6;

class TinyHybrid : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(path())) GTEST_SKIP() << path() << " is only in the full golden data";
  }
  static std::filesystem::path folder() { return golden_dir() / "real" / "tiny-hybrid"; }
  static std::string path() { return (folder() / (std::string("model-") + GetParam().name + ".gguf")).string(); }
};

TEST_P(TinyHybrid, GivesTheRecordedLogits) {
  const nlohmann::json recorded = read_json(folder() / "logits.json");
  for (std::size_t k = 0; k < recorded["runs"].size(); ++k) {
    const auto file = [&](const char* kind) { return folder() / ("logits-" + std::to_string(k) + kind); };
    const std::vector<int> top = read_numbers<int>(file(".top.i32"));
    const std::vector<float> want = read_numbers<float>(file(".top.f32"));
    const std::vector<Token> ids = recorded["runs"][k]["ids"];
    std::vector<int> positions(ids.size());
    std::iota(positions.begin(), positions.end(), 0);
    const RunResult result = run_logits(path(), ids, positions, {});
    std::vector<float> got;
    const std::size_t likeliest = top.size() / ids.size();
    for (std::size_t i = 0; i < top.size(); ++i)
      got.push_back(result.logits[i / likeliest * static_cast<std::size_t>(result.vocabulary) +
                                  static_cast<std::size_t>(top[i])]);
    const char* peer = GetParam().peer;
    EXPECT_LE(nmse(got, want), peer == nullptr ? kFloatNmse : recorded["runs"][k][peer]["nmse"].get<double>());
  }
}

TEST_P(TinyHybrid, HasTheRecordedPerplexity) {
  LogitsRequest request;
  request.ids = std::vector<Token>(512);
  Session session = open_for(path(), request, {});
  const nlohmann::json ids = read_json(folder() / "text.ids.json");
  const std::vector<Token> text = ids.is_array() ? ids : ids["ids"];
  const Result<Perplexity> found = perplexity(session, text, {});
  ASSERT_TRUE(found) << found.error().message;
  const nlohmann::json recorded = read_json(folder() / "logits.json");
  EXPECT_NEAR(found->nll, recorded["perplexity"]["reference_f64"]["nats"].get<double>(), GetParam().nats);
}

INSTANTIATE_TEST_SUITE_P(All, TinyHybrid, testing::ValuesIn(kFormats),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace plait::test
