// SHA-256, by OpenSSL's libcrypto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "plait/result.h"

namespace plait {

// Of the whole file, in small hexadecimal digits. `tick` is told the bytes read so far and returns false to stop.
Result<std::string> sha256_of_file(const std::filesystem::path& path, const std::function<bool(std::uint64_t)>& tick);

}  // namespace plait
