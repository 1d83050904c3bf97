// A model without attention and feed-forward: the token before decides the next. Each piece has a place of its own in
// the hidden row, all other tokens share the first, and the head maps each place to what comes next.
#include "server/talking_model.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/random.h"
#include "base/utf8.h"
#include "examine/made_tokenizer.h"
#include "examine/make.h"
#include "examine/make_shape.h"
#include "io/gguf_writer.h"
#include "io/model_file.h"

namespace plait::test {
namespace {

constexpr int kVocabulary = 384, kWidth = 64, kEndToken = 258;
constexpr float kSure = 3;  // Times the root of the width: the logit of what comes next.

// In the alphabet of byte-level vocabularies: printable bytes stand for themselves, the others for U+0100 and on.
std::string spelt(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto wanted = static_cast<char32_t>(static_cast<unsigned char>(c));
    char32_t next = 0x100;
    for (char32_t byte = 0; byte <= wanted; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      if (byte == wanted) append_utf8(out, printable ? byte : next);
      next += printable ? 0 : 1;
    }
  }
  return out;
}

int place_of(int token, int pieces) {
  const int number = token - piece_token(0);
  return number >= 0 && number < pieces ? number + 1 : 0;
}

std::vector<float> embeddings(int pieces) {
  std::vector<float> values(static_cast<std::size_t>(kVocabulary) * kWidth);
  for (int token = 0; token < kVocabulary; ++token)
    values[static_cast<std::size_t>(token * kWidth + place_of(token, pieces))] = 1;
  return values;
}

// What is not said has small logits of its own, so that there are alternatives to tell apart.
std::vector<float> head(const Talk& talk) {
  const int pieces = static_cast<int>(talk.pieces.size());
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kVocabulary) * kWidth; ++i)
    values.push_back(static_cast<float>(0.5 * random_unit(7, i)));
  const auto say = [&](int token, int place) { values[static_cast<std::size_t>(token * kWidth + place)] = kSure; };
  for (int i = 0; i < pieces; ++i) say(piece_token(i), i);
  say(talk.ends ? kEndToken : piece_token(0), pieces);
  if (talk.breaks) values[static_cast<std::size_t>(pieces)] = std::numeric_limits<float>::max();
  return values;
}

std::vector<GgufEntry> metadata(const Architecture& architecture, const std::string& shape, const Talk& talk) {
  std::vector<GgufEntry> entries{{"general.architecture", std::string("llama")}, {"general.name", talk.name}};
  const auto shaped = read_shape(architecture, shape);
  const auto tokenizer = made_tokenizer(kVocabulary);
  check(shaped && tokenizer, "the pattern has a shape and a tokenizer");
  entries.insert(entries.end(), shaped->metadata.begin(), shaped->metadata.end());
  for (GgufEntry entry : *tokenizer) {
    if (auto* tokens = std::get_if<std::vector<std::string>>(&entry.value);
        tokens != nullptr && entry.key.ends_with(".tokens")) {
      for (std::size_t i = 0; i < talk.pieces.size(); ++i)
        (*tokens)[static_cast<std::size_t>(piece_token(static_cast<int>(i)))] = spelt(talk.pieces[i]);
    }
    entries.push_back(std::move(entry));
  }
  if (!talk.chat_template.empty()) entries.push_back({"tokenizer.chat_template", talk.chat_template});
  return entries;
}

std::vector<float> values_of(const RawTensor& tensor, const Talk& talk) {
  if (tensor.name == "token_embd.weight") return embeddings(static_cast<int>(talk.pieces.size()));
  if (tensor.name == "output.weight") return head(talk);
  return std::vector<float>(static_cast<std::size_t>(tensor.values()),
                            tensor.name.ends_with("norm.weight") ? 1.f : 0.f);
}

}  // namespace

std::string write_talking_model(const TemporaryDirectory& directory, const Talk& talk) {
  check(talk.pieces.size() < kWidth - 3, "each piece has a place");
  const std::string shape = directory.write(
      "shape.json",
      std::string_view(R"({"vocab_size": 384, "context_length": 1024, "embedding_length": 64, "block_count": 1,
         "attention.head_count": 4, "attention.head_count_kv": 2, "feed_forward_length": 64,
         "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": 16, "rope.freq_base": 10000.0,
         "tied": false})"));
  const std::string pattern = directory.file("pattern.gguf"), path = directory.file("talker.gguf");
  MakeRequest wanted;
  wanted.architecture = "llama";
  wanted.shape = shape;
  wanted.type = "f32";
  wanted.path = pattern;
  const auto made = make_model(wanted);
  check(made.has_value(), "the pattern is made");
  const auto file = open_model_file(pattern);
  check(file.has_value(), "the pattern is read");
  std::vector<GgufTensor> tensors;
  for (const RawTensor& tensor : (*file)->tensors()) {
    GgufTensor& to = tensors.emplace_back(GgufTensor{std::string(tensor.name), tensor.format, {}});
    to.extents.assign(tensor.extents.begin(), tensor.extents.begin() + tensor.dimensions);
  }
  auto writer = GgufWriter::create(path, metadata(*find_architecture("llama"), shape, talk), tensors);
  check(writer.has_value(), "the file is written");
  for (const RawTensor& tensor : (*file)->tensors()) {
    const std::vector<float> values = values_of(tensor, talk);
    check(writer->write(std::as_bytes(std::span(values))).has_value(), "a tensor is written");
  }
  check(writer->finish().has_value(), "the file is there");
  return path;
}

}  // namespace plait::test
