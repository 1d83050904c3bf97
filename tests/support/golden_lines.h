// Golden files: where they are, and their JSON lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace plait {

// A file of the golden data in use; empty if it is not there.
std::string golden_path(const std::string& name);

// The folders of a golden folder that hold a file `with`, sorted.
std::vector<std::string> golden_folders(const std::string& folder, const std::string& with);

nlohmann::json read_golden_json(const std::string& name);
std::vector<nlohmann::json> read_golden_lines(const std::string& name);

std::string bytes_from_hex(const std::string& hex);

}  // namespace plait
