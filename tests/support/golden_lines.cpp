// Golden files: where they are, and their JSON lines.
#include "support/golden_lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace plait {

std::string golden_path(const std::string& name) {
  const std::string path = std::string(PLAIT_GOLDEN_DIR) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

std::vector<std::string> golden_folders(const std::string& folder, const std::string& with) {
  std::vector<std::string> found;
  const std::string top = golden_path(folder);
  if (top.empty()) return found;
  for (const auto& entry : std::filesystem::directory_iterator(top)) {
    if (std::filesystem::exists(entry.path() / with)) found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

nlohmann::json read_golden_json(const std::string& name) {
  std::ifstream file(golden_path(name));
  return nlohmann::json::parse(file);
}

std::vector<nlohmann::json> read_golden_lines(const std::string& name) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(golden_path(name));
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::string bytes_from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace plait
