// Several memory nodes: weights are packed and multiplied in other shares, and everything is the same to the bit.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "isa/select.h"
#include "support/linear_case.h"

namespace plait {
namespace {

// Four workers on two nodes that this machine need not have: only the cut depends on them.
ThreadPlan two_nodes() {
  const std::vector<int> any = allowed_processors();
  return {.threads = 4, .places = {{0, any}, {0, any}, {1, any}, {1, any}}, .nodes = 2};
}

struct Products {
  std::vector<std::byte> packed;  // Of the first matrix.
  std::vector<std::vector<float>> outputs;
};

// Three matrices of 5, 1 and 2 pairs, the last one not filled, over the same input in one call.
Products products_on(const ThreadPlan& plan, const Format& format) {
  constexpr int kRows[] = {160, 32, 50}, kCols = 512, kTokens = 3;
  CpuBackend backend(*all_isas().back().kernels, plan, 8);
  EXPECT_TRUE(backend.reserve(kTokens, kCols).has_value());
  std::vector<float> input(static_cast<std::size_t>(kTokens) * kCols);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 37) / 16 - 1;
  const OwnTensor x(backend, kTokens, kCols, input);
  std::vector<LinearCase> cases;
  std::vector<OwnTensor> outs;
  for (const int rows : kRows) {
    cases.emplace_back(format, rows, kCols, 7u, true).load(backend);
    outs.emplace_back(backend, kTokens, rows);
  }
  std::vector<Projection> projections;
  for (std::size_t i = 0; i < cases.size(); ++i)
    projections.push_back({.weight = &cases[i].weight, .out = outs[i].view});
  backend.linear(x.view, projections);
  Products result;
  const std::byte* begin = cases[0].memory->host();
  result.packed.assign(begin, begin + cases[0].memory->bytes());
  for (const OwnTensor& out : outs) result.outputs.push_back(out.values(backend));
  return result;
}

TEST(Nodes, ChangeNoBitOfWeightsAndProducts) {
  for (const char* name : {"q4_0", "q4_k", "f16", "iq2_xs"}) {  // The last one stays as the file has it.
    SCOPED_TRACE(name);
    const Format& format = *find_format(name);
    const Products one = products_on({.threads = 1}, format), two = products_on(two_nodes(), format);
    EXPECT_EQ(one.packed, two.packed);
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      ASSERT_EQ(one.outputs[i].size(), two.outputs[i].size());
      EXPECT_EQ(std::memcmp(one.outputs[i].data(), two.outputs[i].data(), one.outputs[i].size() * sizeof(float)), 0);
    }
  }
}

std::size_t resident_pages(const Buffer& buffer, std::byte* begin) {
  constexpr std::size_t kPage = 4096;
  std::vector<unsigned char> pages((buffer.bytes() + kPage - 1) / kPage);
  EXPECT_EQ(::mincore(begin, buffer.bytes(), pages.data()), 0);
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; }));
}

// The repack cache is read by any thread: the pages must have been taken by the workers that will multiply them.
TEST(Nodes, HaveTheirPagesBeforeKeptWeightsAreRead) {
  const Format& format = *find_format("q8_0");
  constexpr int kRows = 1000, kCols = 1024;
  RawTensor raw{.name = "w", .format = &format, .dimensions = 2};
  raw.extents = {kCols, kRows, 1, 1};
  for (const int nodes : {1, 2}) {
    CpuBackend backend(*all_isas().back().kernels, nodes == 2 ? two_nodes() : ThreadPlan{.threads = 4}, 8);
    const auto memory = std::move(*backend.allocate(backend.weight_bytes(format, kRows, kCols)));
    const Weight weight = backend.place(raw, *memory, 0);
    EXPECT_EQ(weight.bytes, memory->bytes());
    EXPECT_EQ(resident_pages(*memory, memory->host()), nodes == 1 ? 0 : (memory->bytes() + 4095) / 4096);
  }
}

}  // namespace
}  // namespace plait
