// What every model must keep: the bits of its logits under any schedule. The property test of all mixers.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include "base/random.h"
#include "isa/select.h"
#include "support/golden_model.h"

namespace plait::test {

// Runs `count` random tokens under every chunking, company, thread count and instruction set; all must give the same
// bits.
inline void expect_same_bits(const std::string& path, int count, int activations = 8) {
  Session probe = open_for(path, {.ids = {0}, .positions = {0}}, {});
  const int vocabulary = probe.spec().vocabulary;
  std::vector<Token> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<Token>(random_bits(7, i) % static_cast<std::uint64_t>(vocabulary));
  std::vector<int> positions(ids.size());
  std::iota(positions.begin(), positions.end(), 0);

  std::vector<RunWith> schedules = {{.rows = RowType::kF16, .threads = 1},
                                    {.rows = RowType::kF16, .threads = 2},
                                    {.rows = RowType::kF16, .threads = 3}};
  for (const int chunk : {1, 3, 7, 15, 16, 17, 63, 64, 65, 512})
    schedules.push_back({.rows = RowType::kF16, .chunk = chunk});
  for (const int company : {1, 3, 7}) schedules.push_back({.rows = RowType::kF16, .company = company});
  for (const Isa& isa : all_isas()) {
    if (isa.supported()) {
      schedules.push_back({.rows = RowType::kF16, .isa = std::string(isa.name)});
    } else {
      std::printf("skipped: %s, which this machine lacks\n", std::string(isa.name).c_str());
    }
  }
  schedules.push_back({.rows = RowType::kF16, .threads = 2, .isa = "scalar", .chunk = 5, .company = 2});
  schedules.push_back({.rows = RowType::kF16, .threads = 1, .chunk = 33, .company = 5});

  for (RunWith& with : schedules) with.activations = activations;
  const std::vector<float> want =
      run_logits(path, ids, positions, {.rows = RowType::kF16, .activations = activations}).logits;
  ASSERT_EQ(want.size(), ids.size() * static_cast<std::size_t>(vocabulary));
  for (const RunWith& with : schedules) {
    const std::vector<float> got = run_logits(path, ids, positions, with).logits;
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0)
        << "isa '" << with.isa << "', " << with.threads << " threads, chunk " << with.chunk << ", company "
        << with.company;
  }
}

}  // namespace plait::test
