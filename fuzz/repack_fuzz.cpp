// Fuzzes the reader of repack caches: the bytes as a file, and a right file of the bytes with one of its own changed.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "io/repack_cache.h"

namespace {

void at_once(int count, const std::function<void(int, int)>& body) { body(0, count); }

// A file in memory, with a path.
class MemoryFile {
 public:
  MemoryFile() : number_(::memfd_create("fuzz", 0)) { plait::check(number_ >= 0, "there is memory for a file"); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }
  void put(const std::vector<char>& bytes) const {
    plait::check(::ftruncate(number_, 0) == 0, "a file in memory can be cut");
    const ssize_t done = ::pwrite(number_, bytes.data(), bytes.size(), 0);
    plait::check(done == static_cast<ssize_t>(bytes.size()), "a file in memory can be written");
  }

 private:
  int number_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file;
  const plait::RepackStamp stamp{.model = 1, .layout = 2, .checked = false};
  std::vector<std::byte> to(64);
  file.put({data, data + size});
  if (const auto read = plait::read_repack_cache(file.path(), stamp, to, at_once); !read)
    plait::check(plait::is_printable(read.error().message), "a message holds no control characters");
  if (size < 5) return 0;

  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> weights(bytes + 5, bytes + size);
  const std::string path = "/tmp/plait-repack-fuzz-" + std::to_string(::getpid());
  plait::check(plait::write_repack_cache(path, stamp, weights, at_once).has_value(), "a cache can be written");
  std::ifstream in(path, std::ios::binary);
  std::vector<char> right((std::istreambuf_iterator<char>(in)), {});
  std::remove(path.c_str());
  const std::size_t at = (data[0] | data[1] << 8 | data[2] << 16) % right.size();
  right[at] = static_cast<char>(right[at] ^ data[4]);
  file.put(right);
  to.assign(weights.size(), std::byte{1});
  const bool read = plait::read_repack_cache(file.path(), stamp, to, at_once).has_value();
  plait::check(read == (data[4] == 0), "a changed byte is found");
  plait::check(!read || to == weights, "what was written comes back");
  return 0;
}
