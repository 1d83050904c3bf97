// The files of the page, as the build put them into the program.
#pragma once

#include <span>
#include <string_view>

namespace plait {

struct PageFile {
  std::string_view name;  // "index.html"
  std::string_view etag;  // With its quotes; made of the contents.
  std::span<const unsigned char> bytes;
};

// Of the folder src/server/page, by name.
std::span<const PageFile> page_files();

}  // namespace plait
