# Turns the files of the page into one C++ file of byte arrays. Run by the build: cmake -DFOLDER=... -DNAMES=a;b -DOUTPUT=...
set(arrays "")
set(rows "")
set(number 0)
foreach(name ${NAMES})
  file(READ ${FOLDER}/${name} bytes HEX)
  file(SHA256 ${FOLDER}/${name} digest)
  string(SUBSTRING ${digest} 0 20 digest)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", \"\\\"${digest}\\\"\", kBytes${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by tools/embed_page.cmake.
#include \"server/page_files.h\"

namespace plait {
namespace {

${arrays}
constexpr PageFile kFiles[] = {
${rows}};

}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace plait
")
