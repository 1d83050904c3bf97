// One answer of an engine, shown as it comes.
#include "answer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "commands.h"
#include "progress.h"

namespace plait {
namespace {

constexpr int kLookMs = 50;  // How often an interrupt is looked for while nothing comes.

// A bar for prompts that take more than one step.
class PrefillProgress {
 public:
  void update(int done, int total) {
    if (!bar_) bar_.emplace("prompt", static_cast<std::uint64_t>(total), ProgressUnit::kCount);
    bar_->update(static_cast<std::uint64_t>(done));
    if (done == total) bar_->hide();
  }

 private:
  std::optional<Progress> bar_;
};

}  // namespace

Result<Answer> answer(Engine& engine, Request request, std::chrono::steady_clock::time_point start,
                      const std::function<void(std::string_view)>& show, const InterruptFlag& interrupt) {
  Result<Stream> stream = engine.submit(std::move(request));
  if (!stream) return fail(stream.error());
  PrefillProgress prefill;
  Answer result;
  bool cancelled = false;
  while (!stream->finished()) {
    if (interrupt.raised() && !cancelled) {
      stream->cancel();
      cancelled = true;
    }
    const std::optional<Event> event = stream->next_within(kLookMs);
    if (!event) continue;
    if (event->kind == Event::Kind::kPrefill) {
      if (event->prompt_done < event->prompt_total || event->prompt_total > 512)
        prefill.update(event->prompt_done, event->prompt_total);
      continue;
    }
    if (event->kind == Event::Kind::kToken) {
      if (result.tokens.empty())
        result.first_token_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      result.tokens.push_back(event->token);
    }
    result.text += event->text;
    if (show && !event->text.empty()) show(event->text);
    if (event->kind == Event::Kind::kFinish) {
      result.finish = event->finish;
      result.usage = event->usage;
      if (event->finish == FinishReason::kError && event->error) return fail(*event->error);
    }
  }
  return result;
}

std::string figures(const ModelInfo& info, const Usage& usage) {
  const double gbps = static_cast<double>(info.step_weight_bytes) * usage.decode_tokens_per_s / 1e9;
  return fmt::format(
      "prompt {} tokens, {:.1f} tokens/s; generated {} tokens, {:.1f} tokens/s; {:.1f} GB/s of weights read",
      usage.prompt_tokens, usage.prefill_tokens_per_s, usage.generated_tokens, usage.decode_tokens_per_s, gbps);
}

void show_text(std::string_view text) {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  if (terminal) {
    fmt::print("{}", without_terminal_codes(text));
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  std::fflush(stdout);
}

}  // namespace plait
