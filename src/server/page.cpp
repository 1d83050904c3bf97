// The page at / and its files: static, and allowed to run nothing but what came with them.
#include <string>
#include <string_view>

#include "server/page_files.h"
#include "server/service.h"

namespace plait {
namespace {

// Scripts, styles and requests of the page's own address only: nothing that a model writes could run or be fetched.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

// If-None-Match of RFC 9110: "*", or a list of tags, which may be marked as weak.
bool names_tag(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view tag = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (tag.starts_with(' ') || tag.starts_with('\t')) tag.remove_prefix(1);
    while (tag.ends_with(' ') || tag.ends_with('\t')) tag.remove_suffix(1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

void send_file(const PageFile& file, const HttpRequest& request, Reply& reply) {
  reply.set_header("Content-Security-Policy", kPolicy);
  reply.set_header("Referrer-Policy", "no-referrer");
  reply.set_header("Cross-Origin-Opener-Policy", "same-origin");
  reply.set_header("Cache-Control", "no-cache");  // Kept, and asked for again: by its tag.
  reply.set_header("ETag", file.etag);
  const bool known = names_tag(request.header("If-None-Match"), file.etag);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  reply.send(known ? 304 : 200, type_of(file.name), known ? std::string() : std::string(bytes));
}

}  // namespace

void add_page_routes(Router& router, Service& /*service*/) {
  for (const PageFile& file : page_files()) {
    const Handler handler = [&file](const HttpRequest& request, Reply& reply) { send_file(file, request, reply); };
    // Below /page/ its relative addresses would lead nowhere.
    const bool root = file.name == "index.html";
    router.add("GET", root ? "/" : std::string("/page/").append(file.name), handler);
  }
}

}  // namespace plait
