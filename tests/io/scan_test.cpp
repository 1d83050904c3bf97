// The scan for NaN and infinity: the same verdict as the definition of each format, for every format.
#include "io/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/all.h"

namespace plait {
namespace {

constexpr int kRows = 3;

struct Tensor3 {
  std::vector<std::byte> bytes;
  RawTensor tensor;
};

// Three rows of two blocks, all bytes `fill`.
Tensor3 filled(const Format& format, std::byte fill) {
  Tensor3 out;
  const std::size_t row_bytes = 2 * static_cast<std::size_t>(format.info.block_bytes);
  out.bytes.assign(kRows * row_bytes, fill);
  out.tensor.name = "blk.0.w\x1b[2J";
  out.tensor.format = &format;
  out.tensor.extents = {2 * format.info.block_values, kRows, 1, 1};
  out.tensor.dimensions = 2;
  out.tensor.data = out.bytes.data();
  out.tensor.bytes = out.bytes.size();
  return out;
}

// The slow, obvious answer: is every decoded value finite? In a block format every scale meets some value that is not
// zero here, as all codes of a filled block are equal and none of the fills used decodes to zeros alone; and where one
// does, zero times infinity is no number.
bool decodes_to_finite(const RawTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.cols()));
  for (int row = 0; row < kRows; ++row) {
    tensor.format->decode(tensor.data + tensor.bytes / kRows * static_cast<std::size_t>(row), tensor.cols(),
                          values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

TEST(Scan, AgreesWithTheDecodedValuesWhereverAnInfinityOrNanIsPlanted) {
  for (const Format& format : all_formats()) {
    if (format.decode == nullptr || format.info.name == "mxfp4") continue;
    SCOPED_TRACE(format.info.name);
    int found = 0;
    for (const auto fill : {std::byte{0}, std::byte{0x11}, std::byte{0x23}}) {
      Tensor3 three = filled(format, fill);
      ASSERT_TRUE(scan_tensor(three.tensor));
      // Every pair of neighbouring bytes becomes an f16 (and the upper half of a bf16 or f32) that is not finite.
      for (std::size_t at = 0; at + 1 < three.bytes.size(); ++at) {
        for (const int top : {0x7c, 0x7e, 0xfc, 0xff, 0x7f}) {
          const std::byte low = three.bytes[at], high = three.bytes[at + 1];
          three.bytes[at] = top == 0x7f ? std::byte{0xff} : std::byte{0x80};
          three.bytes[at + 1] = static_cast<std::byte>(top);
          const bool finite = decodes_to_finite(three.tensor);
          EXPECT_EQ(scan_tensor(three.tensor).has_value(), finite) << "byte " << at << ", top " << top;
          found += finite ? 0 : 1;
          three.bytes[at] = low;
          three.bytes[at + 1] = high;
        }
      }
    }
    // NVFP4 and fp4_16 have no infinity, and IQ1_M spreads its scale over four nibbles: one pair of bytes cannot make
    // it infinite.
    const bool expected = format.info.name != "nvfp4" && format.info.name != "fp4_16" && format.info.name != "iq1_m";
    EXPECT_EQ(found > 0, expected);
  }
}

TEST(Scan, FindsTheScatteredScaleOfIq1m) {
  Tensor3 three = filled(*find_format("iq1_m"), std::byte{0x11});
  std::byte* const block = three.bytes.data() + 3 * 56;  // The second block of the second row.
  for (int i = 0; i < 4; ++i) block[49 + 2 * i] = i == 3 ? std::byte{0x71} : std::byte{0x01};
  block[49 + 4] = std::byte{0xc1};  // Nibbles 0, 0, c, 7: the f16 0x7c00, infinity.
  const auto done = scan_tensor(three.tensor);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("row 1 of 3"));
}

TEST(Scan, RefusesTheExponentOfMxfp4ThatMeansNan) {
  Tensor3 three = filled(*find_format("mxfp4"), std::byte{0});
  EXPECT_TRUE(scan_tensor(three.tensor));
  three.bytes[17] = std::byte{254};
  EXPECT_TRUE(scan_tensor(three.tensor));
  three.bytes[17] = std::byte{255};
  EXPECT_FALSE(scan_tensor(three.tensor));
}

TEST(Scan, NamesTensorRowAndKind) {
  Tensor3 three = filled(*find_format("q4_0"), std::byte{0});
  three.bytes[2 * 36 + 1] = std::byte{0x7c};
  const auto block = scan_tensor(three.tensor);
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(block.error().message,
            "tensor 'blk.0.w\\x1b[2J', row 2 of 3: a scale is infinite or no number (q4_0), wanted finite ones");
  Tensor3 floats = filled(*find_format("f32"), std::byte{0xff});
  EXPECT_THAT(scan_tensor(floats.tensor).error().message, testing::HasSubstr("row 0 of 3: a value is infinite"));
}

TEST(Scan, LooksOnlyAtTheRowsAsked) {
  Tensor3 three = filled(*find_format("f16"), std::byte{0});
  three.bytes[4 + 1] = std::byte{0x7c};  // Row 1.
  EXPECT_TRUE(scan_rows(three.tensor, 0, 1));
  EXPECT_FALSE(scan_rows(three.tensor, 1, 1));
  EXPECT_TRUE(scan_rows(three.tensor, 2, 1));
  EXPECT_FALSE(scan_rows(three.tensor, 0, 3));
  EXPECT_TRUE(scan_rows(three.tensor, 1, 0));
}

TEST(Scan, PassesIntegersUnread) {
  Tensor3 three = filled(*find_format("i32"), std::byte{0xff});
  EXPECT_TRUE(scan_tensor(three.tensor));
}

}  // namespace
}  // namespace plait
