// SHA-256, by OpenSSL's libcrypto.
#include "sha256.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace plait {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

Result<std::string> sha256_of_file(const std::filesystem::path& path, const std::function<bool(std::uint64_t)>& tick) {
  const auto read_fault = [&] {
    return fail(ErrorCode::kIo, fmt::format("'{}' cannot be read: {}", path.string(), std::strerror(errno)));
  };
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return fail(ErrorCode::kUnsupported, "libcrypto does not offer SHA-256");
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return read_fault();
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file, [](const int* f) { close(*f); });

  std::vector<unsigned char> chunk(kChunkBytes);
  std::uint64_t done = 0;
  while (true) {
    const ssize_t count = read(file, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return read_fault();
    if (count == 0) break;
    EVP_DigestUpdate(context.get(), chunk.data(), static_cast<size_t>(count));
    done += static_cast<std::uint64_t>(count);
    if (!tick(done)) return fail(ErrorCode::kCancelled, "interrupted while checking the file");
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &length);
  return hexadecimal(std::span(digest).first(length));
}

}  // namespace plait
