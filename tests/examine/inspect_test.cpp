// Inspection: what is told of files that run, and of files that do not.
#include "examine/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/gguf_bytes.h"

namespace plait {
namespace {

using testing::HasSubstr;

GgufBytes unknown_file() {
  GgufBytes file;
  file.string("general.architecture", "new\x1b[2Jkind").string("general.name", "A model");
  file.string("long", std::string(59, 'x') + "ä and more of it");
  file.array("numbers", kGgufI32, 8);
  for (int i = 0; i < 8; ++i) file.raw<std::int32_t>(i);
  file.array("flags", kGgufBool, 1).raw<std::uint8_t>(1);
  file.string("tokenizer.chat_template", "{{ x }}").string("bytes", "\xff\xfe");
  file.tensor("a.weight", 2, {32, 4}, 72).tensor("b.weight", 0, {4}, 16);
  return file;
}

TEST(Inspect, OfAnUnknownArchitectureTellsTheHeaderAndThatItCannotRun) {
  const auto file = open_model_bytes("m.gguf", unknown_file().build());
  ASSERT_TRUE(file);
  const Inspection found = inspect(**file, {});
  EXPECT_EQ(found.architecture, "new\\x1b[2Jkind");
  EXPECT_THAT(found.problem, testing::StartsWith("the architecture is 'new\\x1b[2Jkind'; known are "));
  EXPECT_EQ(found.values, 132);
  EXPECT_EQ(found.bytes, 88u);
  ASSERT_EQ(found.formats.size(), 2u);
  EXPECT_EQ(found.formats[0].format, "q4_0");
  EXPECT_EQ(found.formats[0].bytes, 72u);
  const std::string text = inspection_text(found, **file, {.tensors = true});
  EXPECT_THAT(text, HasSubstr("cannot run"));
  EXPECT_THAT(text, HasSubstr("numbers = [0, 1, 2, 3, 4, 5, ... (8)]\n"));
  EXPECT_THAT(text, HasSubstr("flags = [true]\n"));
  EXPECT_THAT(text, HasSubstr("long = \"" + std::string(59, 'x') + "\"... (76 bytes)\n"));
  EXPECT_THAT(text, HasSubstr("bytes = \"\\xff\\xfe\"\n"));
  EXPECT_THAT(text, HasSubstr("a.weight  q4_0     [32, 4]"));
  EXPECT_THAT(text, HasSubstr("q4_0      81.8 % of the bytes, 72 bytes in 1 tensor\n"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(Inspect, AsJsonHoldsTheSameAndNoTerminalCodes) {
  const auto file = open_model_bytes("m.gguf", unknown_file().build());
  ASSERT_TRUE(file);
  const std::string text = inspection_json(inspect(**file, {}), **file, {.tensors = true});
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["runs"], false);
  EXPECT_EQ(json["parameters"], 132);
  EXPECT_EQ(json["metadata"]["numbers"]["count"], 8);
  EXPECT_EQ(json["metadata"]["general.name"], "A model");
  EXPECT_EQ(json["tensors"][0]["name"], "a.weight");
  EXPECT_EQ(json["tensors"][0]["shape"], (std::vector<int>{32, 4}));
  EXPECT_EQ(json["template_bytes"], 7);
}

TEST(Inspect, OfAKnownArchitectureThatLacksTensorsSaysWhich) {
  GgufBytes bytes;
  bytes.string("general.architecture", "llama");
  const auto file = open_model_bytes("m.gguf", bytes.build());
  const Inspection found = inspect(**file, {});
  EXPECT_THAT(found.problem, HasSubstr("missing"));
  EXPECT_THAT(inspection_text(found, **file, {}), HasSubstr("none in the file"));
}

TEST(Inspect, OfAModelTellsLayersAndMemory) {
  const std::filesystem::path path = std::filesystem::path(PLAIT_GOLDEN_DIR) / "models/llama/model.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto file = open_model_file(path.string());
  ASSERT_TRUE(file) << file.error().message;
  const Inspection found = inspect(**file, {.key_type = RowType::kF32, .value_type = RowType::kF32, .context = 100});
  ASSERT_EQ(found.problem, "");
  EXPECT_GT(found.spec.layers.size(), 1u);
  EXPECT_EQ(found.memory.context, 100);
  EXPECT_GT(found.memory.weight_bytes, 0u);
  EXPECT_GE(found.memory.context_bytes, 100 * found.memory.token_bytes);
  const std::string text = inspection_text(found, **file, {.tensors = true, .plan = true});
  EXPECT_THAT(text, HasSubstr("attention"));
  EXPECT_THAT(text, HasSubstr("token_embd.weight"));
  EXPECT_THAT(text, HasSubstr("together"));
  const auto json = nlohmann::json::parse(inspection_json(found, **file, {}));
  EXPECT_EQ(json["runs"], true);
  EXPECT_EQ(json["layers"].size(), found.spec.layers.size());
  EXPECT_FALSE(json.contains("tensors"));
  const Inspection halves = inspect(**file, {.context = 100});
  EXPECT_EQ(halves.memory.token_bytes * 2, found.memory.token_bytes);
}

TEST(Inspect, TellsHowItIsComputedWhereThatIsAsked) {
  const std::filesystem::path path = std::filesystem::path(PLAIT_GOLDEN_DIR) / "models/llama/model.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto file = open_model_file(path.string());
  ASSERT_TRUE(file) << file.error().message;
  const auto backend = make_cpu_backend({.threads = 1, .isa = "scalar"});
  ASSERT_TRUE(backend);
  const Inspection found = inspect(**file, {.backend = backend->get(), .context = 100});
  EXPECT_THAT(inspection_text(found, **file, {.plan = true}),
              HasSubstr("computed by   instruction set: scalar, activations of 8 bits\n"));
  EXPECT_THAT(inspection_text(found, **file, {}), testing::Not(HasSubstr("instruction set")));
  EXPECT_EQ(nlohmann::json::parse(inspection_json(found, **file, {.plan = true}))["plan"]["isa"], "scalar");
  EXPECT_FALSE(nlohmann::json::parse(inspection_json(found, **file, {})).contains("plan"));
}

}  // namespace
}  // namespace plait
