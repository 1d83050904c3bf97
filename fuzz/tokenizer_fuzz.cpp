// Fuzzes vocabularies and texts: any metadata makes a tokenizer or an error, and any text then makes ids that exist.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/detokenizer.h"
#include "text/pre_tables.h"
#include "text/tokenizer.h"

namespace {

// The input, read from the front: numbers by the byte, strings up to a zero byte.
class Reader {
 public:
  explicit Reader(std::string_view input) : left_(input) {}
  int byte() {
    if (left_.empty()) return 0;
    const int value = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  // -1 to 254, or something far out.
  int id() {
    const int value = byte();
    return value == 255 ? 1 << 30 : value - 1;
  }
  std::string text() {
    const std::size_t end = std::min(left_.find('\0'), left_.size());
    std::string value(left_.substr(0, end));
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return value;
  }
  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

void read_lists(Reader& in, plait::Vocabulary& v) {
  const int tokens = in.byte();
  const int flags = in.byte();
  for (int i = 0; i < tokens && !in.rest().empty(); ++i) {
    if (flags & 1) v.types.push_back(static_cast<plait::TokenType>(1 + in.byte() % 6));
    if (flags & 2) v.scores.push_back(static_cast<float>(in.byte() - 128));
    v.tokens.push_back(in.text());
  }
  if (flags & 4) v.scores.push_back(0);
  const int merges = in.byte();
  for (int i = 0; i < merges && !in.rest().empty(); ++i) v.merges.push_back(in.text());
  // Single bytes, so that most inputs get past the checks for them.
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (std::size_t byte = 0; (flags & 8) != 0 && byte < 256; ++byte) {
    v.tokens.push_back({'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'});
    if (!v.types.empty()) v.types.push_back(plait::TokenType::kByte);
    if (!v.scores.empty()) v.scores.push_back(0);
  }
}

plait::Vocabulary read_vocabulary(Reader& in) {
  constexpr std::string_view kModels[] = {"gpt2", "llama", "bert", "rwkv", "t5"};
  plait::Vocabulary v;
  v.model = kModels[in.byte() % 5];
  const auto names = plait::pre_names();
  v.pre = names[static_cast<std::size_t>(in.byte()) % names.size()].name;
  for (plait::Token* id : {&v.bos, &v.eos, &v.eot, &v.eom, &v.unknown, &v.separator, &v.cls}) *id = in.id();
  for (int* flag :
       {&v.add_bos, &v.add_eos, &v.add_sep, &v.add_space_prefix, &v.ignore_merges, &v.lowercase, &v.strip_accents}) {
    *flag = in.byte() % 3 - 1;
  }
  read_lists(in, v);
  return v;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader in({reinterpret_cast<const char*>(data), size});
  const auto tokenizer = plait::make_tokenizer(read_vocabulary(in));
  if (!tokenizer) return 0;
  const plait::Tokenizer& t = **tokenizer;
  for (const bool special : {false, true}) {
    const auto ids = t.encode(in.rest(), {.add_special = special, .parse_special = special});
    if (!ids) continue;
    plait::Detokenizer text(t, special, special);
    for (const plait::Token id : *ids) {
      plait::check(id >= 0 && id < t.size(), "a tokenizer makes ids of its vocabulary only");
      (void)t.is_end(id);
      (void)text.add(id);
    }
    (void)text.finish();
  }
  return 0;
}
