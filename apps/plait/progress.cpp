// Progress: how far long work is, on standard error: a bar on a terminal, elsewhere a line every few seconds.
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace plait {
namespace {

constexpr int kBarWidth = 24;
constexpr double kMegabyte = 1e6;

std::string amount(std::uint64_t value, ProgressUnit unit) {
  return unit == ProgressUnit::kBytes ? fmt::format("{:.1f}", static_cast<double>(value) / kMegabyte)
                                      : fmt::format("{}", value);
}

std::string rate(double per_second, ProgressUnit unit) {
  return unit == ProgressUnit::kBytes ? fmt::format("{:.1f} MB/s", per_second / kMegabyte)
                                      : fmt::format("{:.1f}/s", per_second);
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

}  // namespace

ProgressStyle ProgressStyle::standard_error() {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  return {.terminal = terminal,
          .interval = std::chrono::milliseconds(terminal ? 100 : 5000),
          .write = [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

Progress::Progress(std::string label, std::uint64_t total, ProgressUnit unit, ProgressStyle style)
    : label_(std::move(label)),
      total_(total),
      unit_(unit),
      style_(std::move(style)),
      start_(std::chrono::steady_clock::now()),
      last_shown_(start_) {}

Progress::~Progress() {
  if (!finished_ && shown_ && style_.terminal) style_.write("\n");
}

void Progress::update(std::uint64_t done) {
  if (!begun_) first_ = done;
  begun_ = true;
  done_ = done;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shown_ < style_.interval) return;
  last_shown_ = now;
  show();
}

void Progress::finish() {
  if (finished_) return;
  if (shown_ || style_.terminal) show();
  if (shown_ && style_.terminal) style_.write("\n");
  finished_ = true;
}

void Progress::hide() {
  if (shown_ && style_.terminal) style_.write("\r\x1b[K");
  shown_ = shown_ && !style_.terminal;
}

void Progress::show() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double since_first = done_ > first_ ? static_cast<double>(done_ - first_) : 0;
  const ProgressState state{
      .done = done_, .total = total_, .per_second = seconds > 0 ? since_first / seconds : 0, .unit = unit_};
  if (style_.terminal) {
    style_.write(fmt::format("\r{}\x1b[K", progress_line(label_, state, kBarWidth)));
  } else {
    style_.write(fmt::format("{}\n", progress_line(label_, state, 0)));
  }
  shown_ = true;
}

std::string progress_line(std::string_view label, const ProgressState& state, int bar_width) {
  const std::string suffix = state.unit == ProgressUnit::kBytes ? " MB" : "";
  if (state.total == 0) {
    return fmt::format("{}  {}{}  {}", label, amount(state.done, state.unit), suffix,
                       rate(state.per_second, state.unit));
  }
  const double share = std::clamp(static_cast<double>(state.done) / static_cast<double>(state.total), 0.0, 1.0);
  std::string line = fmt::format("{}  ", label);
  if (bar_width > 0) {
    const auto full = static_cast<size_t>(share * bar_width);
    line += fmt::format("[{}{}] ", std::string(full, '#'), std::string(static_cast<size_t>(bar_width) - full, '-'));
  }
  line += fmt::format("{:3}%  {}/{}{}", static_cast<int>(share * 100), amount(state.done, state.unit),
                      amount(state.total, state.unit), suffix);
  if (state.per_second > 0) {
    line += "  " + rate(state.per_second, state.unit);
    if (state.done < state.total) {
      line += fmt::format("  {} left", duration(static_cast<double>(state.total - state.done) / state.per_second));
    }
  }
  return line;
}

}  // namespace plait
