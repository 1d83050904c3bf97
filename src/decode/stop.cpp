// StopMatcher: one automaton for each stop string, fed byte by byte.
#include "decode/stop.h"

#include <fmt/format.h>

#include <algorithm>

namespace plait {
namespace {

constexpr std::size_t kMostStops = 64;
constexpr std::size_t kMostBytes = 1024;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

}  // namespace

Result<void> check_stop_strings(const std::vector<std::string>& stops) {
  if (stops.size() > kMostStops)
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} stop strings, at most {}", stops.size(), kMostStops));
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const std::string& stop = stops[i];
    if (stop.empty()) return fail(ErrorCode::kInvalidArgument, fmt::format("stop string {} is empty", i + 1));
    if (stop.size() > kMostBytes)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("stop string {} has {} bytes, at most {}", i + 1, stop.size(), kMostBytes));
    if (continues_character(stop.front()))
      return fail(ErrorCode::kInvalidArgument, fmt::format("stop string {} begins inside a UTF-8 character", i + 1));
  }
  return {};
}

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  for (std::string& stop : stops) {
    Automaton automaton{.text = std::move(stop), .back = {0, 0}};
    const std::string& text = automaton.text;
    for (std::size_t i = 1, k = 0; i < text.size(); ++i) {
      while (k > 0 && text[i] != text[k]) k = automaton.back[k];
      if (text[i] == text[k]) ++k;
      automaton.back.push_back(k);
    }
    automata_.push_back(std::move(automaton));
  }
}

void StopMatcher::Automaton::advance(char byte) {
  while (matched > 0 && text[matched] != byte) matched = back[matched];
  if (text[matched] == byte) ++matched;
}

std::string StopMatcher::add(std::string_view text) {
  if (stopped_) return {};
  std::string shown = std::move(held_);
  held_.clear();
  for (const char byte : text) {
    shown.push_back(byte);
    std::size_t longest = 0;
    for (Automaton& automaton : automata_) {
      automaton.advance(byte);
      if (automaton.matched == automaton.text.size()) longest = std::max(longest, automaton.matched);
    }
    if (longest == 0) continue;
    stopped_ = true;
    found_ = shown.substr(shown.size() - longest);
    shown.resize(shown.size() - longest);
    return shown;
  }
  std::size_t held = 0;
  for (const Automaton& automaton : automata_) held = std::max(held, automaton.matched);
  held_ = shown.substr(shown.size() - held);
  shown.resize(shown.size() - held);
  return shown;
}

std::string StopMatcher::finish() {
  for (Automaton& automaton : automata_) automaton.matched = 0;
  return std::move(held_);
}

}  // namespace plait
