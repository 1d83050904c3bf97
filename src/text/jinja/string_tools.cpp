// Lines, wrapping, tags and quoting.
#include "text/jinja/string_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/jinja/unicode.h"

namespace plait::jinja {

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_bytes(text[at]);
    const char32_t c = length == 1 ? static_cast<char32_t>(text[at]) : to_code_points(text.substr(at, length))[0];
    if (!is_line_break(c)) {
      at += length;
      continue;
    }
    std::size_t end = at + length;
    if (c == '\r' && end < text.size() && text[end] == '\n') ++end;
    lines.emplace_back(text.substr(begin, (keep_ends ? end : at) - begin));
    begin = at = end;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

namespace {

bool is_plain_space(char32_t c) { return c == ' ' || (c >= 9 && c <= 13); }

// Words and runs of white space; a word also breaks behind a hyphen between letters.
std::vector<std::u32string> chunks_of(std::u32string_view line, bool break_on_hyphens) {
  std::vector<std::u32string> chunks;
  std::u32string chunk;
  const auto flush = [&] {
    if (!chunk.empty()) chunks.push_back(std::exchange(chunk, {}));
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i > 0 && is_plain_space(line[i]) != is_plain_space(line[i - 1])) flush();
    chunk += line[i];
    const bool hyphen = line[i] == '-' && i >= 2 && i + 2 < line.size() && is_letter(line[i - 1]) &&
                        is_letter(line[i - 2]) && is_letter(line[i + 1]) && is_letter(line[i + 2]);
    if (break_on_hyphens && hyphen) flush();
  }
  flush();
  return chunks;
}

}  // namespace

std::vector<std::u32string> wrap_line(std::u32string_view line, const WrapRules& rules) {
  std::vector<std::u32string> chunks = chunks_of(line, rules.break_on_hyphens), lines;
  const auto is_blank = [](const std::u32string& chunk) { return is_plain_space(chunk[0]); };
  std::size_t next = 0, cut = 0;  // Of the next chunk, `cut` characters are in lines already.
  while (next < chunks.size()) {
    std::vector<std::u32string> current;
    std::size_t length = 0;
    if (cut == 0 && is_blank(chunks[next]) && !lines.empty()) ++next;
    for (; next < chunks.size() && length + chunks[next].size() - cut <= rules.width; ++next, cut = 0) {
      length += chunks[next].size() - cut;
      current.push_back(chunks[next].substr(cut));
    }
    if (next < chunks.size() && chunks[next].size() - cut > rules.width) {
      const std::u32string& chunk = chunks[next];
      if (rules.break_long_words) {
        const std::size_t space = std::max<std::size_t>(rules.width - length, length == 0 ? 1 : 0);
        if (space > 0) current.push_back(chunk.substr(cut, space)), cut += space;
      } else if (current.empty()) {
        current.push_back(chunk);
        ++next;
      }
    }
    if (!current.empty() && is_blank(current.back())) current.pop_back();
    if (current.empty()) continue;
    std::u32string joined;
    for (const std::u32string& chunk : current) joined += chunk;
    lines.push_back(std::move(joined));
  }
  return lines;
}

std::string strip_tags(std::string_view html) {
  std::string text;
  for (std::size_t at = 0; at < html.size();) {
    if (html.substr(at, 4) == "<!--") {
      const std::size_t end = html.find("-->", at + 4);
      if (end != std::string_view::npos) {
        at = end + 3;
        continue;
      }
    }
    if (html[at] == '<') {
      const std::size_t end = html.find('>', at);
      if (end != std::string_view::npos) {
        at = end + 1;
        continue;
      }
    }
    text += html[at++];
  }
  std::string joined;  // White space collapses.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = space_length(text, at);
    if (space != 0) {
      at += space;
      if (!joined.empty() && joined.back() != ' ') joined += ' ';
    } else {
      joined += text[at++];
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) joined += text[at++];
    }
  }
  if (!joined.empty() && joined.back() == ' ') joined.pop_back();
  std::string out;
  static constexpr std::pair<std::string_view, char> kEntities[] = {{"&amp;", '&'}, {"&lt;", '<'},   {"&gt;", '>'},
                                                                    {"&#34;", '"'}, {"&quot;", '"'}, {"&#39;", '\''}};
  for (std::size_t at = 0; at < joined.size();) {
    bool found = false;
    for (const auto& [name, c] : kEntities) {
      if (joined.compare(at, name.size(), name) != 0) continue;
      out += c;
      at += name.size();
      found = true;
      break;
    }
    if (!found) out += joined[at++];
  }
  return out;
}

std::string url_quoted(std::string_view text, bool in_query) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (c == '/' && !in_query);
    if (plain)
      out += c;
    else if (c == ' ' && in_query)
      out += '+';
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace plait::jinja
