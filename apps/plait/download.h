// Download: a file over HTTP into a PartFile, resumed where it broke off, verified at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "part_file.h"
#include "plait/result.h"

namespace plait {

struct DownloadRequest {
  std::string url;
  std::string token;                     // Empty: none.
  std::string label;                     // For the progress bar and messages.
  std::optional<std::uint64_t> bytes;    // What the file must be, if known beforehand.
  std::string sha256;                    // Likewise; empty: what the server says, if it says.
  int tries = 5;                         // Without a byte of progress between them.
  std::chrono::milliseconds pause{500};  // Before the second try; then twice as long each time.
};

// Completes `part` but leaves publishing to the caller. Errors: kNotFound, the source does not give it; kCorrupt, what
// came is not what was wanted, and nothing of it is kept; kIo, this machine cannot take it; kCancelled, Ctrl-C.
// What has come is kept in the other cases, for a later try.
Result<void> download(const DownloadRequest& request, PartFile& part);

// Compares size and SHA-256 of `path`, which the message calls `label`, with what is wanted (empty: not compared).
Result<void> verify_file(const std::filesystem::path& path, const std::string& label,
                         std::optional<std::uint64_t> bytes, const std::string& sha256);

}  // namespace plait
