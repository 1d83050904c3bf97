// Numbers and text laid out by a format: sign, fill, width, precision, groups of digits. For % and for format().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/machine.h"

namespace plait::jinja {

struct FormatSpec {
  std::u32string fill = U" ";
  char align = 0;  // < > ^ =, or 0: the type's own.
  char sign = '-';
  bool alternate = false;
  char grouping = 0;  // , or _
  std::int64_t width = 0;
  std::int64_t precision = -1;
  char type = 0;
};

// All three fail the machine on what the type cannot do, and before anything too large is made.
std::string lay_out_text(Machine& machine, std::string_view text, const FormatSpec& spec);
std::string lay_out_integer(Machine& machine, std::int64_t value, const FormatSpec& spec);
std::string lay_out_float(Machine& machine, double value, const FormatSpec& spec);

}  // namespace plait::jinja
