// Regex: one PCRE2 pattern with UTF and UCP, and the memory that matching needs.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "plait/result.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace plait {

struct Match {
  bool found = false;
  std::size_t begin = 0, end = 0;
};

// What matching writes to. One for each thread that matches; serves any number of patterns in turn.
class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(const RegexScratch&) = delete;
  RegexScratch& operator=(const RegexScratch&) = delete;

 private:
  friend class Regex;
  pcre2_real_match_data_8* match_data_;
  pcre2_real_match_context_8* context_;
  pcre2_real_jit_stack_8* jit_stack_;
};

// Immutable once compiled, so any number of threads may share it.
class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern);
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&&) = delete;
  ~Regex();

  // The leftmost match that begins at `start` or later. `subject` must be valid UTF-8 and is the whole text for
  // look-around. Running into a limit is an error, never "no match".
  Result<Match> find(std::string_view subject, std::size_t start, RegexScratch& scratch) const;

 private:
  explicit Regex(pcre2_real_code_8* code) : code_(code) {}
  pcre2_real_code_8* code_;
};

}  // namespace plait
