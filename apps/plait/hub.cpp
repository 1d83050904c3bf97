// The Hugging Face hub: where a file is asked for, and with which token.
#include "hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace plait {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string token_path() {
  if (const std::string path = variable("HF_TOKEN_PATH"); !path.empty()) return path;
  if (const std::string home = variable("HF_HOME"); !home.empty()) return home + "/token";
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface/token";
  return variable("HOME") + "/.cache/huggingface/token";
}

std::string find_token() {
  if (const std::string token = trimmed(variable("HF_TOKEN")); !token.empty()) return token;
  std::ifstream file(token_path());
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

// All but letters, digits, "-._~" and the slash as %XX.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("-._~/").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

Result<HubAccess> hub_access() {
  HubAccess access{.endpoint = trimmed(variable("HF_ENDPOINT")), .token = find_token()};
  if (access.endpoint.empty()) access.endpoint = "https://huggingface.co";
  while (access.endpoint.ends_with('/')) access.endpoint.pop_back();
  if (!access.endpoint.starts_with("https://") && !access.endpoint.starts_with("http://")) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("HF_ENDPOINT is '{}', and https://... is wanted", access.endpoint));
  }
  // A line break in it would be a header of its own.
  const bool printable =
      std::all_of(access.token.begin(), access.token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable)
    return fail(ErrorCode::kInvalidArgument, "the hub's token (HF_TOKEN) has characters that no token has");
  return access;
}

std::string hub_url(const HubAccess& access, const HubFile& file) {
  return fmt::format("{}/{}/{}/resolve/main/{}", access.endpoint, escaped(file.owner), escaped(file.repository),
                     escaped(file.file));
}

}  // namespace plait
