// Regex: one PCRE2 pattern with UTF and UCP, and the memory that matching needs.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace plait {
namespace {

// A text of one megabyte needs about one step a byte; beyond these something is wrong, and the user is told.
constexpr std::uint32_t kMatchLimit = 200'000'000;
constexpr std::uint32_t kHeapLimitKib = 256 * 1024;
constexpr std::size_t kJitStackStart = 32 * 1024;
constexpr std::size_t kJitStackLimit = 64 * 1024 * 1024;  // Address space; pages are taken when touched.

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

RegexScratch::RegexScratch()
    : match_data_(pcre2_match_data_create(1, nullptr)),
      context_(pcre2_match_context_create(nullptr)),
      jit_stack_(pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr)) {
  if (context_ == nullptr) return;  // Out of memory: find() says so.
  pcre2_set_match_limit(context_, kMatchLimit);
  pcre2_set_heap_limit(context_, kHeapLimitKib);
  // Null where PCRE2 was built without its compiler: then the interpreter runs, which needs no such stack.
  if (jit_stack_ != nullptr) pcre2_jit_stack_assign(context_, nullptr, jit_stack_);
}

RegexScratch::~RegexScratch() {
  pcre2_match_data_free(match_data_);
  pcre2_match_context_free(context_);
  pcre2_jit_stack_free(jit_stack_);
}

Result<Regex> Regex::compile(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP,
                                   &error, &at, nullptr);
  if (code == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("pattern {}: PCRE2 refuses it at byte {}: {}", pattern, at, pcre2_message(error)));
  }
  const int compiled = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  if (compiled != 0 && compiled != PCRE2_ERROR_JIT_BADOPTION) {  // That one: PCRE2 was built without its compiler.
    pcre2_code_free(code);
    return fail(ErrorCode::kNoMemory, fmt::format("pattern {}: PCRE2 cannot compile it to machine code: {}", pattern,
                                                  pcre2_message(compiled)));
  }
  return Regex(code);
}

Regex::Regex(Regex&& other) noexcept : code_(std::exchange(other.code_, nullptr)) {}
Regex::~Regex() { pcre2_code_free(code_); }

Result<Match> Regex::find(std::string_view subject, std::size_t start, RegexScratch& scratch) const {
  if (scratch.match_data_ == nullptr || scratch.context_ == nullptr) {
    return fail(ErrorCode::kNoMemory, "there is no memory to match patterns with");
  }
  // The subject has been checked once as a whole; a check at each call would make the time quadratic.
  const int code = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), start,
                               PCRE2_NO_UTF_CHECK, scratch.match_data_, scratch.context_);
  if (code == PCRE2_ERROR_NOMATCH) return Match{};
  if (code < 0) {
    return fail(ErrorCode::kUnsupported, fmt::format("PCRE2 stopped at byte {} of a text of {} bytes: {}", start,
                                                     subject.size(), pcre2_message(code)));
  }
  // 0: a match whose groups do not fit; the whole match, the only one we ask for, is there.
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(scratch.match_data_);
  return Match{true, bounds[0], bounds[1]};
}

}  // namespace plait
