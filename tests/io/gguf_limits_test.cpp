// The GGUF reader on wrong files: each rule broken once, and the sentence that says so.
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/gguf.h"
#include "io/model_file.h"
#include "support/gguf_bytes.h"
#include "support/memory.h"

namespace plait {
namespace {

struct Case {
  std::string name;
  std::function<std::vector<std::byte>()> bytes;
  ErrorCode code;
  std::string message;  // Part of it.
};

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr ErrorCode kCorrupt = ErrorCode::kCorrupt;
constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;

Bytes text_bytes(std::string_view text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  return {at, at + text.size()};
}

Bytes versioned(std::uint32_t version) {
  GgufBytes file = small_gguf();
  file.version = version;
  return file.build();
}

Bytes counted(std::int64_t tensors, std::int64_t keys) {
  GgufBytes file = small_gguf();
  file.tensor_count_change = tensors;
  file.key_count_change = keys;
  return file.build();
}

std::vector<Case> container_cases() {
  return {
      {"empty", [] { return Bytes{}; }, kCorrupt, "m.gguf: the file is empty"},
      {"text", [] { return text_bytes("hello, world"); }, kCorrupt, "begins with 'hell', wanted 'GGUF'"},
      {"control", [] { return text_bytes("\x1b[2J and more"); }, kCorrupt, "begins with '\\x1b[2J'"},
      {"short magic", [] { return text_bytes("GG"); }, kCorrupt, "is not a GGUF file"},
      {"lfs", [] { return text_bytes("version https://git-lfs.github.com/spec/v1"); }, kCorrupt, "Git LFS pointer"},
      {"web page", [] { return text_bytes("<!DOCTYPE html>"); }, kCorrupt, "web page"},
      {"version 1", [] { return versioned(1); }, kUnsupported, "is GGUF version 1, which is no longer in use"},
      {"version 4", [] { return versioned(4); }, kUnsupported, "is GGUF version 4, wanted 2 or 3"},
      {"version 0", [] { return versioned(0); }, kUnsupported, "is GGUF version 0, wanted 2 or 3"},
      {"big-endian", [] { return versioned(0x03000000u); }, kUnsupported, "big-endian"},
      {"negative tensors", [] { return counted(-4, 0); }, kCorrupt, "has 18446744073709551615 tensors"},
      {"negative keys", [] { return counted(0, -17); }, kCorrupt, "has 18446744073709551615 metadata keys"},
      {"many tensors", [] { return counted(100'000, 0); }, kCorrupt, "have room for"},
      {"most tensors", [] { return counted(kLargest - 3, 0); }, kCorrupt, "at most 1048576 are allowed"},
      {"many keys", [] { return counted(0, 60'000); }, kCorrupt, "have room for"},
      {"most keys", [] { return counted(0, kLargest - 16); }, kCorrupt, "at most 65536 are allowed"},
      {"a tensor too many", [] { return counted(1, 0); }, kCorrupt, "tensor 4 of 4"},
  };
}

// One more key behind right ones.
template <class Add>
std::function<Bytes()> with_key(Add add) {
  return [add] {
    GgufBytes file;
    file.string("general.architecture", "toy");
    add(file);
    return file.build();
  };
}

std::vector<Case> key_cases() {
  return {
      {"empty key", with_key([](GgufBytes& f) { f.number<std::uint8_t>("", kGgufU8, 1); }), kCorrupt,
       "entry 2 of 2 has an empty key"},
      {"control key", with_key([](GgufBytes& f) { f.number<std::uint8_t>("a\x1b[0m", kGgufU8, 1); }), kCorrupt,
       "'a\\x1b[0m'"},
      {"key that is not UTF-8", with_key([](GgufBytes& f) { f.number<std::uint8_t>("a\xff", kGgufU8, 1); }), kCorrupt,
       "'a\\xff'"},
      {"long key", with_key([](GgufBytes& f) { f.number<std::uint8_t>(std::string(65'536, 'k'), kGgufU8, 1); }),
       kCorrupt, "string of 65536 bytes, at most 65535"},
      {"twice", with_key([](GgufBytes& f) { f.string("general.architecture", "toy"); }), kCorrupt,
       "key 'general.architecture' occurs twice"},
      {"value type 13", with_key([](GgufBytes& f) { f.number<std::uint8_t>("k", 13, 1); }), kCorrupt,
       "key 'k' has value type 13, known are 0 to 12"},
      {"value type 2^32 - 1", with_key([](GgufBytes& f) { f.number<std::uint8_t>("k", 0xffffffffu, 1); }), kCorrupt,
       "value type 4294967295"},
      {"bool 2", with_key([](GgufBytes& f) { f.number<std::uint8_t>("k", kGgufBool, 2); }), kCorrupt,
       "key 'k' has the truth value 2, wanted 0 or 1"},
      {"u64 over int64", with_key([](GgufBytes& f) { f.number<std::uint64_t>("k", kGgufU64, kHuge); }), kCorrupt,
       "key 'k' is 18446744073709551615, more than a 64-bit signed integer"},
      {"string over the limit",
       with_key([](GgufBytes& f) { f.number<std::uint64_t>("k", kGgufString, (1u << 30) + 1); }), kCorrupt,
       "at most 1073741824 are allowed"},
      {"string of 2^64 - 1", with_key([](GgufBytes& f) { f.number<std::uint64_t>("k", kGgufString, kHuge); }), kCorrupt,
       "key 'k' has a string of"},
      {"string over the end", with_key([](GgufBytes& f) { f.number<std::uint64_t>("k", kGgufString, 1000); }), kCorrupt,
       "string of 1000 bytes, but the file ends 0 bytes on"},
      {"number over the end", with_key([](GgufBytes& f) { f.number<std::uint16_t>("k", kGgufF64, 1); }), kCorrupt,
       "the file ends inside key 'k'"},
  };
}

std::vector<Case> array_cases() {
  return {
      {"array of arrays",
       with_key([](GgufBytes& f) { f.array("k", kGgufArray, 1).raw<std::uint32_t>(0).raw<std::uint64_t>(0); }),
       kCorrupt, "key 'k' is an array of arrays"},
      {"array type 99", with_key([](GgufBytes& f) { f.array("k", 99, 1).raw<std::uint64_t>(0); }), kCorrupt,
       "value type 99"},
      {"array of 2^64 - 1", with_key([](GgufBytes& f) { f.array("k", kGgufU8, kHuge); }), kCorrupt,
       "at most 16777216 are allowed"},
      {"array of 2^30", with_key([](GgufBytes& f) { f.array("k", kGgufU8, 1u << 30); }), kCorrupt,
       "at most 16777216 are allowed"},
      {"u8 array over the end", with_key([](GgufBytes& f) { f.array("k", kGgufU8, 9).raw<std::uint64_t>(0); }),
       kCorrupt, "has 9 elements of at least 1 bytes, but the file ends 8 bytes on"},
      {"string array over the end",
       with_key([](GgufBytes& f) { f.array("k", kGgufString, 1u << 24).raw<std::uint64_t>(0); }), kCorrupt,
       "elements of at least 8 bytes"},
      {"string in an array over the end",
       with_key([](GgufBytes& f) { f.array("k", kGgufString, 1).raw<std::uint64_t>(5); }), kCorrupt,
       "string of 5 bytes"},
      {"bool array",
       with_key([](GgufBytes& f) { f.array("k", kGgufBool, 2).raw<std::uint8_t>(1).raw<std::uint8_t>(3); }), kCorrupt,
       "truth value 3"},
      {"u64 array", with_key([](GgufBytes& f) { f.array("k", kGgufU64, 1).raw(kHuge); }), kCorrupt,
       "more than a 64-bit"},
      {"alignment 24", with_key([](GgufBytes& f) { f.number<std::uint32_t>("general.alignment", kGgufU32, 24); }),
       kCorrupt, "'general.alignment' is 24, wanted a power of two"},
      {"alignment 0", with_key([](GgufBytes& f) { f.number<std::uint32_t>("general.alignment", kGgufU32, 0); }),
       kCorrupt, "is 0, wanted a power"},
      {"alignment 4", with_key([](GgufBytes& f) { f.number<std::uint32_t>("general.alignment", kGgufU32, 4); }),
       kCorrupt, "is 4, wanted a power"},
      {"alignment 2^31",
       with_key([](GgufBytes& f) { f.number<std::uint32_t>("general.alignment", kGgufU32, 1u << 31); }), kCorrupt,
       "is 2147483648, wanted a power"},
      {"alignment -32", with_key([](GgufBytes& f) { f.number<std::int32_t>("general.alignment", kGgufI32, -32); }),
       kCorrupt, "is -32, wanted"},
      {"alignment text", with_key([](GgufBytes& f) { f.string("general.alignment", "32"); }), kCorrupt,
       "'general.alignment' is no integer"},
  };
}

// One tensor record with 64 bytes of data.
std::function<Bytes()> with_record(std::string name, std::uint32_t type, std::vector<std::int64_t> extents,
                                   std::uint64_t offset = 0) {
  return [=] {
    GgufBytes file;
    file.record(name, type, extents, offset);
    file.data().resize(64);
    return file.build();
  };
}

std::vector<Case> tensor_cases() {
  return {
      {"empty name", with_record("", 0, {1}), kCorrupt, "tensor 1 of 1: the name is empty"},
      {"long name", with_record(std::string(64, 'n'), 0, {1}), kCorrupt, "the name has 64 bytes, at most 63"},
      {"control name", with_record("a\nb", 0, {1}), kCorrupt, "control characters, 'a\\nb'"},
      {"five dimensions", with_record("t", 0, {1, 1, 1, 1, 1}), kCorrupt, "tensor 't': has 5 dimensions, at most 4"},
      {"extent 0", with_record("t", 0, {0}), kCorrupt, "extent 0 is 0, wanted 1 to 2147483647"},
      {"extent -1", with_record("t", 0, {4, -1}), kCorrupt, "extent 1 is -1"},
      {"extent 2^31", with_record("t", 0, {std::int64_t{1} << 31}), kCorrupt, "extent 0 is 2147483648"},
      {"extent 2^63 - 1", with_record("t", 0, {1, kLargest}), kCorrupt, "extent 1 is 9223372036854775807"},
      {"rows overflow", with_record("t", 0, {1, 65'536, 65'536}), kCorrupt, "has more than 2147483647 rows"},
      {"bytes overflow", with_record("t", 28, {2'147'483'647, 2'147'483'647}), kCorrupt,
       "are more than 64 bits can count"},
      {"bytes beyond the file", with_record("t", 0, {17}), kCorrupt,
       "has 68 bytes at offset 0 of the data, but the file ends at 64"},
      {"row of no whole block", with_record("t", 2, {33}), kCorrupt,
       "its rows have 33 values, no multiple of the 32 of a q4_0 block"},
      {"retired type 4", with_record("t", 4, {32}), kUnsupported,
       "type 4 (retired q4_2) is no longer in use; download the model again or requantize"},
      {"retired type 31", with_record("t", 31, {32}), kUnsupported, "requantize it"},
      {"retired type 36", with_record("t", 36, {32}), kUnsupported, "requantize it"},
      {"activation type 9", with_record("t", 9, {32}), kUnsupported, "type 9 (q8_1)"},
      {"activation type 15", with_record("t", 15, {256}), kUnsupported, "type 15 (q8_k)"},
      {"type 43", with_record("t", 43, {32}), kUnsupported, "type 43 is not known"},
      {"type -2, int8_row here", with_record("t", 0xfffffffeu, {32}), kUnsupported, "type 4294967294 is not known"},
      {"type -2 in 16 bits", with_record("t", 0xfffeu, {32}), kUnsupported, "type 65534 (a type of ik_llama.cpp)"},
      {"type 2^32 - 1", with_record("t", 0xffffffffu, {32}), kUnsupported, "type 4294967295 is not known"},
      {"offset 16", with_record("t", 0, {1}, 16), kCorrupt, "tensor 't': offset 16 is not a multiple of 32"},
      {"offset at the end", with_record("t", 0, {1}, 64), kCorrupt, "has 4 bytes at offset 64"},
      {"offset 2^64 - 32", with_record("t", 0, {16}, kHuge - 31), kCorrupt,
       "has 64 bytes at offset 18446744073709551584"},
      {"overlap",
       [] {
         GgufBytes file;
         file.tensor("a", 0, {9}, 36).record("b", 0, {1}, 32);
         return file.build();
       },
       kCorrupt, "tensors 'a' and 'b' overlap"},
      {"same place",
       [] {
         GgufBytes file;
         file.tensor("a", 0, {1}, 4).record("b", 0, {1}, 0);
         return file.build();
       },
       kCorrupt, "overlap"},
      {"same name",
       [] {
         GgufBytes file;
         file.tensor("a", 0, {1}, 4).tensor("a", 0, {1}, 4);
         return file.build();
       },
       kCorrupt, "tensor name 'a' occurs twice"},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> out = container_cases();
  for (auto cases : {key_cases(), array_cases(), tensor_cases()}) out.insert(out.end(), cases.begin(), cases.end());
  return out;
}

TEST(GgufLimits, EachBrokenRuleIsRefusedWithASentenceThatNamesIt) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const auto model = open_model_bytes("m.gguf", c.bytes());
    if (model) {
      ADD_FAILURE() << "was opened";
      continue;
    }
    EXPECT_EQ(model.error().code, c.code) << model.error().message;
    EXPECT_THAT(model.error().message, testing::HasSubstr(c.message));
    EXPECT_THAT(model.error().message, testing::StartsWith("m.gguf: "));
  }
}

TEST(GgufLimits, ARefusalTakesLittleTimeAndMemory) {
  const std::size_t before = peak_memory_bytes();
  for (const Case& c : all_cases()) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(open_model_bytes("m.gguf", c.bytes()));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500)) << c.name;
  }
  EXPECT_LT(peak_memory_bytes(), before + 100'000'000u);
}

TEST(GgufLimits, ThePathInAMessageIsMadeSafeToo) {
  const auto model = open_model_bytes("\x1b[2J.gguf", {});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message, "\\x1b[2J.gguf: the file is empty");
}

// Sorted names: a file cannot choose keys that make looking them up slow.
TEST(GgufLimits, AsManyKeysAsAreAllowedOpenQuickly) {
  GgufBytes file;
  for (std::uint64_t i = 0; i < GgufLimits::kKeys; ++i) file.number<std::uint8_t>(fmt::format("key.{}", i), kGgufU8, 0);
  const auto start = std::chrono::steady_clock::now();
  const auto model = open_model_bytes("m.gguf", file.build());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NE((*model)->find_metadata("key.65535"), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace plait
