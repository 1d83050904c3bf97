// RunReport: which kernel multiplies with which format, and where threads run.
#include "engine/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/all.h"
#include "support/gguf_bytes.h"

namespace plait {
namespace {

using testing::ElementsAre;

TEST(RunReport, NamesTheKernelOfEachFormatMostBytesFirst) {
  GgufBytes bytes;
  bytes.string("general.architecture", "llama");
  bytes.tensor("a.weight", 2, {32, 4}, 72).tensor("b.weight", 2, {32, 2}, 36).tensor("norm.weight", 0, {4}, 16);
  bytes.tensor("c.weight", 17, {256, 4}, 296);
  const auto file = open_model_bytes("m.gguf", bytes.build());
  ASSERT_TRUE(file) << file.error().message;
  const auto backend = make_cpu_backend({.threads = 1, .isa = "scalar", .pin = false});
  ASSERT_TRUE(backend);
  const RunReport report = run_report(**file, **backend);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].format, "iq2_xs");
  EXPECT_EQ(report.kernels[0].kernel, "expanded");
  EXPECT_EQ(report.kernels[1].kernel, "direct");
  EXPECT_EQ(report.kernels[1].tensors, 2);
  EXPECT_EQ((*backend)->kernel_for(*find_format("i32")), "never multiplied");
  EXPECT_THAT(report_lines(report), ElementsAre("instruction set: scalar, activations of 8 bits",
                                                "kernels: iq2_xs: expanded (1 matrix, 73.3 % of the bytes); "
                                                "q4_0: direct (2 matrices, 26.7 % of the bytes)",
                                                "threads: 1 thread, free to run anywhere"));
}

TEST(RunReport, TellsMemoryInMebibytes) {
  EXPECT_EQ(memory_line({.weight_bytes = std::size_t{3} << 20, .cache_bytes = std::size_t{1} << 19}),
            "memory: 3.0 MiB of weights, 0.5 MiB of cache, 0.0 MiB of scratch");
}

}  // namespace
}  // namespace plait
