// RequestReader, over Beast's parser.
#include "server/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/parser.hpp>

#include "server/header_text.h"

namespace plait {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using BoostError = boost::system::error_code;

// The size of a chunk with its extensions, and the trailers behind the last one.
constexpr std::size_t kMostChunkHeader = 4096;
constexpr std::size_t kFirstBody = 4096;
constexpr std::string_view kTooManyBodies =
    "the bodies of other requests take all the memory for them; try again later";
// What the parts of JSON become: a value and its share of an array's room; a list or an object of its own.
constexpr std::size_t kValueBytes = 24, kListBytes = 48;

// A body that asks the budget before it grows. While it moves, its old and its new place are both paid for.
class CountedBytes {
 public:
  ~CountedBytes() {
    if (budget_ != nullptr) budget_->give_back(charged_);
  }
  CountedBytes() = default;
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  void set(BodyBudget* budget, std::size_t most) {
    budget_ = budget;
    most_ = most;
  }
  void expect(std::size_t length) { most_ = std::min(most_, length); }
  std::size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }  // The charge stays.

  bool append(const char* data, std::size_t count) {
    const std::size_t wanted = bytes_.size() + count;
    if (wanted > charged_) {
      const std::size_t room = std::max(wanted, std::min(std::max(2 * charged_, kFirstBody), most_));
      if (!budget_->take(room)) return false;
      std::string grown;
      grown.reserve(room);
      grown += bytes_;
      bytes_ = std::move(grown);
      budget_->give_back(charged_);
      charged_ = room;
    }
    bytes_.append(data, count);
    return true;
  }
  // For what the bytes become.
  bool charge(std::size_t more) {
    if (!budget_->take(more)) return false;
    charged_ += more;
    return true;
  }

 private:
  BodyBudget* budget_ = nullptr;
  std::size_t most_ = 0, charged_ = 0;
  std::string bytes_;
};

// What Beast calls a body.
struct CountedBody {
  using value_type = CountedBytes;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& length, BoostError& error) {
      error = {};
      if (length) body_.expect(static_cast<std::size_t>(*length));
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, BoostError& error) {
      error = {};
      std::size_t taken = 0;
      for (auto part = asio::buffer_sequence_begin(buffers); part != asio::buffer_sequence_end(buffers); ++part) {
        const asio::const_buffer bytes(*part);
        if (!body_.append(static_cast<const char*>(bytes.data()), bytes.size())) {
          error = make_error_code(boost::system::errc::not_enough_memory);
          return taken;
        }
        taken += bytes.size();
      }
      return taken;
    }
    void finish(BoostError& error) { error = {}; }

   private:
    value_type& body_;
  };
};

template <class View>
std::string text_of(const View& view) {
  return std::string(view.data(), view.size());
}

// The authority of "http://authority/path", which leaves the target; empty where there is none.
std::string take_authority(std::string& target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_but_for_case(std::string_view(target).substr(0, scheme.size()), scheme)) continue;
    const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
    std::string authority = target.substr(scheme.size(), end - scheme.size());
    target.erase(0, end);
    if (!target.starts_with('/')) target.insert(0, "/");
    return authority;
  }
  return {};
}

std::string path_of(const std::string& target) { return target.substr(0, target.find('?')); }

}  // namespace

struct RequestReader::Parser : http::request_parser<CountedBody> {};

std::size_t RequestReader::most_unused(const ReaderLimits& limits) {
  return std::max(limits.header_bytes, kMostChunkHeader);
}

std::size_t json_bytes(std::string_view body) {
  std::size_t bytes = 2 * body.size();  // Strings: once as they are read, once as they stay.
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) ++i;
    if (quoted) continue;
    if (c == ',') bytes += kValueBytes;
    if (c == '[' || c == '{') bytes += kListBytes;
  }
  return bytes;
}

RequestReader::RequestReader(const ReaderLimits& limits, BodyBudget& budget)
    : limits_(limits), budget_(budget), parser_(std::make_unique<Parser>()) {
  parser_->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser_->body_limit(limits.body_bytes);
  parser_->get().body().set(&budget, limits.body_bytes);
}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::body_received() const { return parser_->get().body().size(); }

void RequestReader::fail_with(int status, std::string message) {
  state_ = State::kFault;
  keep_alive_ = false;
  fault_ = {status, std::move(message), {}};
}

std::size_t RequestReader::feed(std::string_view bytes) {
  std::size_t used = 0;
  // An empty line before a request is to be passed over: RFC 9112, 2.2.
  while (!started_ && used + 2 <= bytes.size() && bytes.substr(used, 2) == "\r\n") used += 2;
  while ((state_ == State::kHeader || state_ == State::kBody) && used < bytes.size()) {
    const bool in_header = state_ == State::kHeader;
    const std::string_view rest = bytes.substr(used);
    if (!started_ && rest == "\r") break;
    started_ = true;
    BoostError error;
    const std::size_t taken = parser_->put(asio::buffer(rest.data(), rest.size()), error);
    used += taken;
    if (in_header) {
      header_bytes_ += taken;
      if (path_.empty()) path_ = path_of(text_of(parser_->get().target()));
    }
    if (error == http::error::need_more) {
      const std::size_t unused = bytes.size() - used;
      if (in_header && header_bytes_ + unused >= limits_.header_bytes) {
        fail_with(431, fmt::format("the header has more than {} bytes", limits_.header_bytes));
      } else if (!in_header && unused >= kMostChunkHeader) {
        fail_with(400, fmt::format("the header of a chunk has more than {} bytes", kMostChunkHeader));
      }
      break;
    }
    if (error == http::error::header_limit || (in_header && header_bytes_ > limits_.header_bytes)) {
      fail_with(431, fmt::format("the header has more than {} bytes", limits_.header_bytes));
    } else if (error == http::error::body_limit) {
      fail_with(413, fmt::format("the body has more than {} bytes", limits_.body_bytes));
    } else if (error == boost::system::errc::not_enough_memory) {
      fail_with(429, std::string(kTooManyBodies));
    } else if (error) {
      fail_with(400, fmt::format("the request is not HTTP/1.1 as it should be: {}", error.message()));
    } else if (in_header && parser_->is_header_done()) {
      take_header();
      if (state_ == State::kBody && parser_->is_done()) state_ = State::kWhole;
      break;
    } else if (parser_->is_done()) {
      take_body();
    }
  }
  return used;
}

void RequestReader::take_body() {
  CountedBytes& body = parser_->get().body();
  request_.body = body.take();
  const std::size_t needed = json_bytes(request_.body);
  if (request_.body.size() + needed > budget_.most()) {
    fail_with(413,
              fmt::format("the body has too many values: it would take {} bytes of memory, and {} are there for bodies",
                          request_.body.size() + needed, budget_.most()));
  } else if (!body.charge(needed)) {
    fail_with(429, std::string(kTooManyBodies));
  } else {
    state_ = State::kWhole;
  }
}

void RequestReader::take_header() {
  state_ = State::kBody;
  const auto& message = parser_->get();
  http_1_1_ = message.version() >= 11;
  keep_alive_ = parser_->keep_alive();
  request_.method = text_of(message.method_string());
  std::string target = text_of(message.target());
  const std::string authority = take_authority(target);
  path_ = request_.path = path_of(target);
  if (request_.path.size() < target.size()) request_.query = target.substr(request_.path.size() + 1);
  int hosts = 0;
  for (const auto& field : message) {
    std::string name = text_of(field.name_string()), value = text_of(field.value());
    if (equal_but_for_case(name, "host")) {
      ++hosts;
      if (!authority.empty()) value = authority;  // RFC 9112, 3.2.2: it goes before what Host says.
    }
    // Beast takes any other coding for "no body": what follows would be read as the next request.
    if (equal_but_for_case(name, "transfer-encoding") && (!equal_but_for_case(value, "chunked") || !http_1_1_))
      return fail_with(400, "Transfer-Encoding is something else than chunked, or in a request of HTTP/1.0");
    if (equal_but_for_case(name, "content-encoding") && !equal_but_for_case(value, "identity"))
      return fail_with(415, "the body has a Content-Encoding; only plain bodies are read");
    if (equal_but_for_case(name, "expect")) {
      if (!equal_but_for_case(value, "100-continue"))
        return fail_with(417, "Expect has something else than 100-continue");
      wants_continue_ = http_1_1_;
    }
    request_.headers.emplace_back(std::move(name), std::move(value));
  }
  if (hosts > 1) return fail_with(400, "there is more than one Host header");
  if (hosts == 0 && http_1_1_) return fail_with(400, "the Host header is missing");
  if (!request_.path.starts_with('/') && !(request_.path == "*" && request_.method == "OPTIONS"))
    return fail_with(400, "the target of the request is not a path that begins with /");
}

}  // namespace plait
