// Fuzzes what a client may send: bytes through the reader of requests, then the guard and the fields of a body. However
// the bytes are cut into pieces, the requests in them are the same, and the budget for bodies is whole in the end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "server/fields.h"
#include "server/guard.h"
#include "server/request_reader.h"

namespace {

using plait::RequestReader;
using State = RequestReader::State;

constexpr plait::ReaderLimits kLimits{1024, 8192};
constexpr std::size_t kBodies = 20'000;

void read_fields(std::string_view body) {
  plait::Fields fields(body);
  (void)fields.string("model");
  (void)fields.boolean("stream");
  (void)fields.integer("seed", 0, INT64_MAX);
  (void)fields.integer("max_tokens", -1, 1 << 30);
  (void)fields.number("temperature", 0, 2);
  plait::check(fields.strings("stop", 4).size() <= 4, "no more strings than were wanted");
  (void)fields.array("messages");
  if (const plait::Json* options = fields.object("options")) {
    plait::Fields inner(*options, "options.");
    (void)inner.number("top_p", 0, 1);
    inner.refuse({"mirostat"});
  }
  fields.refuse({"tools", "grammar"});
  fields.require("messages");
  if (fields.error()) {
    plait::check(fields.error()->status == 400 && !fields.error()->message.empty(), "an error is a sentence");
    plait::check(plait::parse_json(plait::error_body(plait::Dialect::kOpenAi, *fields.error())).has_value(),
                 "an error is JSON");
  }
}

void look_at(const plait::HttpRequest& request) {
  plait::ServerOptions options;
  options.api_keys = {"key"};
  options.cors_origins = {"http://a.example"};
  for (const bool loopback : {false, true}) {
    const plait::Guard::Verdict verdict = plait::Guard(options, loopback).check(request);
    plait::check(!verdict.error || verdict.error->status == 401 || verdict.error->status == 403, "a guard's status");
    for (const auto& [name, value] : verdict.headers)
      plait::check(value.find_first_of("\r\n") == std::string::npos, "headers that are sent back stay on their lines");
  }
  read_fields(request.body);
}

// The requests in `bytes`, given in pieces as a connection would get them.
std::vector<std::string> requests_in(std::string_view bytes, std::size_t piece, bool look) {
  plait::BodyBudget budget(kBodies);
  std::vector<std::string> found;
  auto reader = std::make_unique<RequestReader>(kLimits, budget);
  std::string inbox;
  while (!bytes.empty()) {
    inbox += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      const std::size_t used = reader->feed(inbox);
      plait::check(used <= inbox.size(), "no more is used than there is");
      inbox.erase(0, used);
      if (reader->state() == State::kFault) {
        const plait::HttpError& fault = reader->fault();
        plait::check(fault.status >= 400 && fault.status < 500, "a fault is the client's");
        const std::string body = plait::error_body(plait::dialect_of(reader->path()), fault);
        plait::check(plait::parse_json(body).has_value(), "a fault is JSON");
        return found;
      }
      if (reader->state() == State::kWhole) {
        const plait::HttpRequest& request = reader->request();
        plait::check(request.body.size() <= kLimits.body_bytes, "a body keeps to its limit");
        if (look) look_at(request);
        found.push_back(request.method + " " + request.path + "?" + request.query + " " + request.body);
        reader = std::make_unique<RequestReader>(kLimits, budget);
        plait::check(budget.left() == kBodies, "a request gives back what it took");
        if (inbox.empty()) break;
      } else if (used == 0 || inbox.empty()) {
        break;
      }
    }
    plait::check(inbox.size() < RequestReader::most_unused(kLimits) + piece, "little is left unused");
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> whole = requests_in(bytes, bytes.size() + 1, true);
  const std::vector<std::string> cut = requests_in(bytes, std::size_t{1} + data[0] % 64, false);
  // A fault may be seen sooner in the one than in the other.
  const std::size_t both = std::min(whole.size(), cut.size());
  plait::check(std::equal(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(both), cut.begin()),
               "requests do not depend on how their bytes came");
  return 0;
}
