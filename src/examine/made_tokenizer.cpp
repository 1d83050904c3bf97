// A byte-level tokenizer in the form of GPT-2's.
#include "examine/made_tokenizer.h"

#include <fmt/format.h>

#include <string>

namespace plait {
namespace {

constexpr std::int32_t kNormal = 1, kControl = 3;
constexpr int kLetters = 26;

void append_utf8(std::string& out, int code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else {  // All that occur are below 0x800.
    out += static_cast<char>(0xc0 | code_point >> 6);
    out += static_cast<char>(0x80 | (code_point & 0x3f));
  }
}

// GPT-2's alphabet: printable bytes stand for themselves, the others, in order, for U+0100 and on.
std::vector<std::string> byte_alphabet() {
  std::vector<std::string> alphabet;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    append_utf8(alphabet.emplace_back(), printable ? byte : next++);
  }
  return alphabet;
}

// A space and a word of at least two letters, a different one for each number.
std::string filler(const std::string& space, int number) {
  std::string word = space;
  for (int rest = number + kLetters; rest > 0; rest /= kLetters) word += static_cast<char>('a' + rest % kLetters);
  return word;
}

}  // namespace

Result<std::vector<GgufEntry>> made_tokenizer(int vocabulary) {
  if (vocabulary < kLeastMadeVocabulary) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("vocab_size is {}, but the tokenizer of a made model needs {}",
                                                         vocabulary, kLeastMadeVocabulary));
  }
  const auto size = static_cast<std::size_t>(vocabulary);
  std::vector<std::string> tokens = byte_alphabet();
  std::vector<std::int32_t> types(size, kNormal);
  const std::string space = tokens[' '];
  for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    types[tokens.size()] = kControl;
    tokens.emplace_back(special);
  }
  std::vector<std::string> merges;
  for (int letter = 0; letter < kLetters && tokens.size() < size; ++letter) {
    const std::string text(1, static_cast<char>('a' + letter));
    tokens.push_back(space + text);
    merges.push_back(fmt::format("{} {}", space, text));
  }
  for (int number = 0; tokens.size() < size; ++number) tokens.push_back(filler(space, number));
  return std::vector<GgufEntry>{
      {"tokenizer.ggml.model", std::string("gpt2")},
      {"tokenizer.ggml.pre", std::string("gpt-2")},
      {"tokenizer.ggml.tokens", std::move(tokens)},
      {"tokenizer.ggml.token_type", std::move(types)},
      {"tokenizer.ggml.merges", std::move(merges)},
      {"tokenizer.ggml.bos_token_id", std::uint32_t{256}},
      {"tokenizer.ggml.eos_token_id", std::uint32_t{256}},
      {"tokenizer.ggml.eot_token_id", std::uint32_t{258}},
      {"tokenizer.ggml.add_bos_token", false},
  };
}

}  // namespace plait
