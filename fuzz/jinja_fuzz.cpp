// Fuzzes the template engine: the input is a template, rendered over a small conversation with tight limits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/chat_template.h"

namespace {

constexpr std::string_view kVariables =
    R"({"messages":[{"role":"system","content":"S \u00e9"},{"role":"user","content":[{"type":"text","text":"q"}]},)"
    R"({"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f",)"
    R"("arguments":{"a":1,"b":[true,2.5]}}}]}],)"
    R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],)"
    R"("add_generation_prompt":true,)"
    R"("bos_token":"<s>","eos_token":"</s>","x":3,"s":"a b","d":{"k":1}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const plait::RenderOptions options{.now = "2026-01-02T03:04:05",
                                     .continue_final_message = false,
                                     .limits = {.steps = 20'000, .depth = 60, .output_bytes = 1u << 20}};
  (void)plait::render_template(source, kVariables, options);
  return 0;
}
