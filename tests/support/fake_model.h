// FakeModel: logits as a function of all tokens so far, which it remembers only through cache blocks.
//
// The row of a token is a hash of its predecessor's row and the token. So an answer is right only if every block was
// where it should be, and any mistake about chunks, company or pauses changes the text. A recurrent one keeps the rows
// of a chunk alone, beside an anchor that holds the row before it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cache/cache.h"
#include "support/memory_backend.h"
#include "text/tokenizer.h"

namespace plait {

// Token 0 ends an answer; token 1 is "<one>", special; all others are one letter or, each seventh, two.
class LetterTokenizer final : public Tokenizer {
 public:
  explicit LetterTokenizer(int size) : size_(size) {}
  Result<std::vector<Token>> encode(std::string_view text, const EncodeOptions&) const override {
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back(2 + static_cast<unsigned char>(c) % (size_ - 2));
    return tokens;
  }
  std::string piece(Token token, bool special) const override {
    if (token <= 1) return special ? (token == 0 ? "<end>" : "<one>") : "";
    std::string text(1, static_cast<char>('a' + token % 26));
    return token % 7 == 0 ? text + text : text;
  }
  int size() const override { return size_; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool is_end(Token token) const override { return token == 0; }
  bool drops_first_space() const override { return false; }
  bool adds_bos() const override { return false; }

 private:
  int size_;
  Vocabulary vocabulary_;
};

class FakeModel {
 public:
  static constexpr int kVocabulary = 50;

  explicit FakeModel(int blocks, bool recurrent = false) {
    StateSpec layer;
    layer.rows[0] = {.bytes = 8};
    std::vector<StateSpec> layers{layer};
    if (recurrent) {
      layer.rows[0] = {.bytes = 8, .window = kSinceAnchor, .read_in_pass = false};
      layer.anchor_bytes = 8;
      layers.push_back(layer);
    }
    cache = std::move(*Cache::create(backend, layers, state_cost(layers).context(blocks * kBlockTokens)));
  }

  // As Stepper::step.
  Result<void> step(std::span<const Work> work, const std::function<void(int, std::span<float>)>& logits) {
    if (before_step) before_step(work);
    if (auto prepared = cache->prepare(work, batch); !prepared) return prepared;
    cache->check_integrity();
    int output = 0;
    for (std::size_t s = 0; s < batch.segments.size(); ++s) {
      const Segment& segment = batch.segments[s];
      std::uint64_t hash = hash_before(segment);
      for (int i = segment.begin; i < segment.begin + segment.count; ++i) {
        const int position = batch.positions[static_cast<std::size_t>(i)];
        hash = random_bits(hash, static_cast<std::uint64_t>(batch.tokens[static_cast<std::size_t>(i)]));
        for (std::size_t layer = 0; layer < cache->states().size(); ++layer) {
          if (std::uint64_t* to = row(layer, segment, position)) *to = hash;
        }
        for (const AnchorOut& out : segment.anchors_out) {
          if (out.position == position + 1) anchor(out.slot) = hash;
        }
        if (output >= static_cast<int>(batch.outputs.size()) || batch.outputs[static_cast<std::size_t>(output)] != i)
          continue;
        std::vector<float> values = work[s].hidden ? hidden_of(hash) : logits_of(hash);
        logits(output++, values);
      }
    }
    return {};
  }

  static std::vector<float> logits_of(std::uint64_t hash) {
    std::vector<float> values;
    for (std::uint64_t t = 0; t < kVocabulary; ++t) values.push_back(static_cast<float>(8 * random_unit(hash, t)));
    values[0] -= 6;  // An end is rare.
    if (values[kPoison] > 7.9f) values[kPoison] = std::numeric_limits<float>::quiet_NaN();
    return values;
  }
  static std::vector<float> hidden_of(std::uint64_t hash) {
    std::vector<float> values;
    for (std::uint64_t i = 0; i < kWidth; ++i) values.push_back(static_cast<float>(random_unit(hash, 100 + i) - 0.5));
    return values;
  }
  static constexpr std::size_t kWidth = 6;
  static constexpr std::size_t kPoison = 49;  // Its logit is sometimes not a number.

  MemoryBackend backend;
  std::unique_ptr<Cache> cache;
  Batch batch;
  LetterTokenizer tokenizer{kVocabulary};
  std::function<void(std::span<const Work>)> before_step;

 private:
  // What the last layer remembers of the tokens before the segment.
  std::uint64_t hash_before(const Segment& segment) {
    if (segment.past == 0) return 0;
    const std::size_t last = cache->states().size() - 1;
    if (last > 0 && segment.past % kChunkTokens == 0) return anchor(segment.anchor_in);
    return *row(last, segment, segment.past - 1);
  }
  // Null: it has no block.
  std::uint64_t* row(std::size_t layer, const Segment& segment, int position) {
    const RowStream& stream = cache->states()[layer].rows[0];
    const int block =
        segment.blocks[static_cast<std::size_t>(stream.group)][static_cast<std::size_t>(position / kBlockTokens)];
    if (block < 0) return nullptr;
    std::byte* at = stream.buffer->host() + stream.offset + static_cast<std::size_t>(block) * stream.stride;
    return reinterpret_cast<std::uint64_t*>(at) + position % kBlockTokens;
  }
  std::uint64_t& anchor(int slot) {
    const LayerState& state = cache->states()[1];
    std::byte* at = state.anchors->host() + state.anchor_offset + static_cast<std::size_t>(slot) * state.anchor_stride;
    return *reinterpret_cast<std::uint64_t*>(at);
  }
};

}  // namespace plait
