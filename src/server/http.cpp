// HttpRequest: finding headers.
#include "server/http.h"

#include "server/header_text.h"

namespace plait {
std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_but_for_case(key, name)) return value;
  }
  return {};
}

}  // namespace plait
