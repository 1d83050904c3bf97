// Fuzzes the JSON reader, and what templates make of JSON.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!plait::parse_json(text)) return 0;
  (void)plait::render_template("{{ messages }}{{ messages | tojson(indent=2, ensure_ascii=true) }}", text,
                               {.now = "2026-01-02T03:04:05",
                                .continue_final_message = false,
                                .limits = {.steps = 20'000, .depth = 100, .output_bytes = 1u << 20}});
  return 0;
}
