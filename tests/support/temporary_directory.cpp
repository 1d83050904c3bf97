// TemporaryDirectory: a fresh directory for one test, removed with all that is in it.
#include "support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"

namespace plait {

TemporaryDirectory::TemporaryDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "plait-test-XXXXXX").string();
  check(::mkdtemp(path_.data()) != nullptr, "a temporary directory can be made");
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(std::string_view name, std::span<const std::byte> bytes) const {
  return write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string TemporaryDirectory::write(std::string_view name, std::string_view text) const {
  const std::string at = file(name);
  std::ofstream out(at, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  check(out.good(), "a test file can be written");
  return at;
}

}  // namespace plait
