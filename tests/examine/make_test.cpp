// make: the same bytes for the same request, models that load, and what is refused.
#include "examine/make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "examine/made_tokenizer.h"
#include "examine/random_tensor.h"
#include "models/registry.h"
#include "support/temporary_directory.h"

namespace plait {
namespace {

using ::testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::uint64_t checksum(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a.
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

class Make : public ::testing::Test {
 protected:
  MakeRequest request(std::string_view architecture, std::string_view name = "a.gguf") const {
    MakeRequest request;
    request.architecture = architecture;
    request.seed = 1;
    request.path = directory_.file(name);
    return request;
  }
  std::string error_of(const MakeRequest& wanted) const {
    const Result<MakeReport> report = make_model(wanted);
    EXPECT_FALSE(report);
    EXPECT_FALSE(std::filesystem::exists(wanted.path));
    EXPECT_FALSE(std::filesystem::exists(wanted.path + ".partial"));
    return report ? "" : report.error().message;
  }
  std::string error_of_shape(std::string_view json) const {
    MakeRequest wanted = request("llama");
    wanted.shape = directory_.write("shape.json", json);
    return error_of(wanted);
  }

  TemporaryDirectory directory_;
};

TEST_F(Make, TheTinyModelOfEveryArchitectureIsWhatItsFunctionAsksFor) {
  for (const Architecture& architecture : architectures()) {
    const MakeRequest wanted = request(architecture.name);
    const Result<MakeReport> report = make_model(wanted);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->bytes, std::filesystem::file_size(wanted.path));
    EXPECT_GT(report->parameters, 30'000);
    EXPECT_LT(report->parameters, 300'000);
    const auto file = open_model_file(wanted.path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->tensors().size(), static_cast<std::size_t>(report->tensors));
    std::vector<std::string> notes;
    const Result<Model> model = build_model(**file, {}, &notes);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_THAT(notes, ::testing::IsEmpty());
    EXPECT_EQ(model->spec().parameters, report->parameters);
  }
}

TEST_F(Make, ThreadsDoNotChangeTheBytesAndSeedsDo) {
  MakeRequest wanted = request("qwen3");
  wanted.type = "q8_0";
  ASSERT_TRUE(make_model(wanted));
  const std::string one = read(wanted.path);
  wanted.threads = 3;
  ASSERT_TRUE(make_model(wanted));
  EXPECT_TRUE(read(wanted.path) == one);
  wanted.seed = 2;
  ASSERT_TRUE(make_model(wanted));
  EXPECT_FALSE(read(wanted.path) == one);
}

// Compilers and machines agree. A change of these numbers makes other models of everybody's seeds.
TEST_F(Make, WritesTheSameBytesEverywhere) {
  struct Case {
    std::string_view type;
    std::uint64_t checksum;
  };
  for (const Case& wanted :
       {Case{"f32", 4066714999679980494u}, Case{"q8_0", 18321585088529773057u}, Case{"q5_1", 16106024386476080863u}}) {
    MakeRequest tiny = request("llama");
    tiny.type = wanted.type;
    ASSERT_TRUE(make_model(tiny));
    EXPECT_EQ(checksum(read(tiny.path)), wanted.checksum) << wanted.type;
  }
}

TEST_F(Make, ValuesAreScaledSoThatActivationsStayOfOrderOne) {
  MakeRequest wanted = request("llama");
  wanted.type = "f32";
  ASSERT_TRUE(make_model(wanted));
  const auto file = open_model_file(wanted.path);
  ASSERT_TRUE(file);
  for (const RawTensor& tensor : (*file)->tensors()) {
    std::vector<float> values(static_cast<std::size_t>(tensor.values()));
    tensor.format->decode(tensor.data, tensor.values(), values.data());
    double sum = 0, squares = 0;
    for (const float value : values) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const double count = static_cast<double>(values.size());
    if (tensor.dimensions == 1) {
      EXPECT_NEAR(sum / count, 1, 0.06) << tensor.name;
    } else {
      EXPECT_NEAR(std::sqrt(squares / count * static_cast<double>(tensor.cols())), 1, 0.05) << tensor.name;
    }
  }
}

TEST_F(Make, ChoosesATypeThatFitsAndRefusesOneThatDoesNot) {
  const Result<MakeReport> report = make_model(request("llama"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->type, "q8_0");  // Its width, 64, is no multiple of 256.
  MakeRequest wanted = request("llama", "b.gguf");
  wanted.type = "q4_k";
  EXPECT_EQ(error_of(wanted), "type q4_k does not fit tensor 'token_embd.weight': its width 64 is no multiple of 256");
  wanted.type = "iq2_xs";
  EXPECT_THAT(error_of(wanted), HasSubstr("type 'iq2_xs' cannot be written; known are f32, f16, bf16, q4_0"));
  wanted.type = "int8_row";  // No type of GGUF.
  EXPECT_THAT(error_of(wanted), HasSubstr("type 'int8_row' cannot be written; known are f32"));
  EXPECT_THAT(error_of(wanted), testing::EndsWith("nvfp4, q1_0, q2_0"));
}

TEST_F(Make, NamesWhatIsUnknown) {
  EXPECT_THAT(error_of(request("lama")), HasSubstr("there is no architecture 'lama'; known are llama,"));
  MakeRequest wanted = request("llama");
  wanted.shape = "huge";
  EXPECT_THAT(error_of(wanted),
              HasSubstr("shape 'huge' is neither one of llama (tiny, smollm2-135m) nor a file that can be read"));
}

TEST_F(Make, TakesAShapeFromAFile) {
  MakeRequest wanted = request("llama");
  wanted.type = "f16";
  wanted.shape = directory_.write("shape.json", R"({"vocab_size": 300, "context_length": 64, "embedding_length": 24,
      "block_count": 1, "attention.head_count": 3, "feed_forward_length": 40,
      "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 10000})");
  const Result<MakeReport> report = make_model(wanted);
  ASSERT_TRUE(report) << report.error().message;
  const auto file = open_model_file(wanted.path);
  ASSERT_TRUE(file);
  EXPECT_NE((*file)->find_tensor("output.weight"), nullptr);  // Not tied unless the shape says so.
  EXPECT_TRUE(std::holds_alternative<double>(*(*file)->find_metadata("llama.rope.freq_base")));
}

TEST_F(Make, SaysWhatIsWrongWithAShape) {
  EXPECT_THAT(error_of_shape("[1, 2]"), HasSubstr("is not an object"));
  EXPECT_THAT(error_of_shape(R"({"vocab_size": 300)"), HasSubstr("shape.json: not valid JSON at offset"));
  EXPECT_THAT(error_of_shape(R"({"a": )" + std::string(5000, '[') + std::string(5000, ']') + "}"),
              HasSubstr("nested deeper"));
  EXPECT_THAT(error_of_shape(R"({"context_length": 64})"), HasSubstr("vocab_size is missing or not a whole number"));
  EXPECT_THAT(error_of_shape(R"({"vocab_size": 100})"), HasSubstr("vocab_size is 100, but the tokenizer"));
  EXPECT_THAT(error_of_shape(R"({"vocab_size": 300})"), HasSubstr("key llama.context_length is missing"));
  EXPECT_THAT(error_of_shape(R"({"vocab_size": 300, "context_length": {"a": 1}})"),
              HasSubstr("key context_length has a value that metadata cannot hold"));
  EXPECT_THAT(error_of_shape(R"({"vocab_size": 300, "context_length": 99999999999})"), HasSubstr("cannot hold"));
}

TEST_F(Make, LeavesNothingBehindWhenItIsStopped) {
  MakeRequest wanted = request("llama");
  wanted.progress = [](std::size_t done, std::size_t total) { return done < total / 2; };
  const Result<MakeReport> report = make_model(wanted);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST(MadeTokenizer, HasEveryByteOnceAndExactlyTheAskedNumberOfTokens) {
  for (const int size : {kLeastMadeVocabulary, 284, 285, 286, 384, 32000}) {
    const Result<std::vector<GgufEntry>> entries = made_tokenizer(size);
    ASSERT_TRUE(entries);
    const auto& tokens = std::get<std::vector<std::string>>(entries->at(2).value);
    EXPECT_EQ(tokens.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(std::set<std::string>(tokens.begin(), tokens.end()).size(), tokens.size());
    EXPECT_EQ(std::get<std::vector<std::int32_t>>(entries->at(3).value).size(), tokens.size());
    EXPECT_EQ(tokens[0], "\xc4\x80");  // U+0100.
    EXPECT_EQ(tokens[' '], "\xc4\xa0");
    EXPECT_EQ(tokens['A'], "A");
    EXPECT_EQ(tokens[0xff], "\xc3\xbf");
    EXPECT_EQ(tokens[258], "<|im_end|>");
  }
  EXPECT_FALSE(made_tokenizer(kLeastMadeVocabulary - 1));
}

TEST(RandomTensor, IsAboutNormalAndAFunctionOfThePlace) {
  std::vector<float> values(1 << 16), part(100);
  const RandomTensor tensor{RandomTensor::seed_of(5, "blk.0.attn_q.weight"), 0.5f, 2};
  tensor.fill(0, values);
  tensor.fill(1000, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + 1000));
  double sum = 0, squares = 0;
  for (const float value : values) {
    sum += value - 0.5;
    squares += (value - 0.5) * (value - 0.5);
    ASSERT_LE(std::fabs(value - 0.5f), 7);
  }
  EXPECT_NEAR(sum / 65536, 0, 0.04);
  EXPECT_NEAR(squares / 65536, 4, 0.1);
  EXPECT_NE(tensor.seed, RandomTensor::seed_of(5, "blk.1.attn_q.weight"));
}

}  // namespace
}  // namespace plait
