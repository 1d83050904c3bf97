// One HTTP GET by libcurl.
#include "http_get.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace plait {
namespace {

constexpr long kConnectSeconds = 15;
constexpr long kSilenceSeconds = 30;  // A connection that brings nothing for so long is given up.
constexpr long kRedirects = 10;

// What the C callbacks see.
struct Transfer {
  const HttpCallbacks& callbacks;
  HttpAnswer answer;
  bool begun = false;
  bool stopped = false;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string unquoted(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// "bytes 100-199/500"
void read_content_range(std::string_view value, HttpAnswer& answer) {
  if (!value.starts_with("bytes ")) return;
  answer.range_begin = number(value.substr(6));
  const size_t slash = value.find('/');
  if (slash != std::string_view::npos) answer.total = number(value.substr(slash + 1));
}

void read_field(const std::string& name, std::string_view value, HttpAnswer& answer) {
  if (name == "etag" && !value.starts_with("W/")) answer.etag = value;  // Weak marks promise no equal bytes.
  if (name == "content-length") answer.length = number(value);
  if (name == "content-range") read_content_range(value, answer);
  if (name == "x-error-message") answer.reason = value;
  if (name == "x-linked-size") answer.linked_size = number(value);
  if (name == "x-linked-etag") answer.linked_etag = unquoted(value);
}

size_t on_header(char* data, size_t, size_t count, void* user) {
  HttpAnswer& answer = static_cast<Transfer*>(user)->answer;
  const std::string_view line = trimmed({data, count});
  if (line.starts_with("HTTP/")) {  // A new response; what the hub said of the file on the way stays.
    const size_t space = line.find(' ');
    const auto status = space == std::string_view::npos ? std::nullopt : number(trimmed(line.substr(space)));
    HttpAnswer fresh;
    fresh.status = static_cast<int>(status.value_or(0));
    fresh.linked_size = answer.linked_size;
    fresh.linked_etag = answer.linked_etag;
    answer = fresh;
    return count;
  }
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos)
    read_field(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)), answer);
  return count;
}

size_t on_data(char* data, size_t, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.answer.status != 200 && transfer.answer.status != 206) return count;  // The words of a refusal.
  if (!transfer.begun && !transfer.callbacks.begin(transfer.answer)) transfer.stopped = true;
  transfer.begun = true;
  if (!transfer.stopped && !transfer.callbacks.data({data, count})) transfer.stopped = true;
  return transfer.stopped ? CURL_WRITEFUNC_ERROR : count;
}

int on_tick(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (!transfer.callbacks.tick()) transfer.stopped = true;
  return transfer.stopped ? 1 : 0;
}

HttpEnd end_of(CURLcode code, const Transfer& transfer) {
  if (code == CURLE_OK) return HttpEnd::kComplete;
  if (transfer.stopped) return HttpEnd::kStopped;
  if (transfer.answer.status != 0) return HttpEnd::kBroken;
  switch (code) {
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return HttpEnd::kBroken;
    default:
      return HttpEnd::kUnreachable;
  }
}

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;
using Headers = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

Headers headers_of(const HttpRequest& request) {
  curl_slist* list = nullptr;
  if (!request.token.empty())
    list = curl_slist_append(list, fmt::format("Authorization: Bearer {}", request.token).c_str());
  if (request.from > 0) list = curl_slist_append(list, fmt::format("Range: bytes={}-", request.from).c_str());
  if (request.from > 0 && !request.if_range.empty()) {
    list = curl_slist_append(list, fmt::format("If-Range: {}", request.if_range).c_str());
  }
  return Headers(list, curl_slist_free_all);
}

void set_options(CURL* handle, const HttpRequest& request, Transfer& transfer, char* fault) {
  const bool secure = request.url.starts_with("https:");
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR,
                   secure ? "https" : "http,https");     // Never from a safe line to an open one.
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);  // libcurl drops our Authorization at another host or port.
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kRedirects);
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // What a proxy answers is not what the server says.
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kSilenceSeconds);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "plait/" PLAIT_VERSION);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, fault);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_data);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_tick);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
  // The library does not look at these two, which other programs over HTTPS honour.
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* bundle = std::getenv(name);
    if (bundle == nullptr || bundle[0] == '\0') continue;
    curl_easy_setopt(handle, CURLOPT_CAINFO, bundle);
    break;
  }
}

}  // namespace

HttpResult http_get(const HttpRequest& request, const HttpCallbacks& callbacks) {
  Transfer transfer{.callbacks = callbacks, .answer = {}};
  const Handle handle(curl_easy_init(), curl_easy_cleanup);
  if (handle == nullptr) return {.end = HttpEnd::kUnreachable, .answer = {}, .fault = "libcurl could not be started"};
  char fault[CURL_ERROR_SIZE] = "";
  set_options(handle.get(), request, transfer, fault);
  const Headers headers = headers_of(request);
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(handle.get());
  const bool wanted = transfer.answer.status == 200 || transfer.answer.status == 206;
  if (code == CURLE_OK && wanted && !transfer.begun) callbacks.begin(transfer.answer);  // A body without a byte.

  HttpResult result{.end = end_of(code, transfer), .answer = transfer.answer, .fault = fault};
  if (result.fault.empty() && code != CURLE_OK) result.fault = curl_easy_strerror(code);
  return result;
}

}  // namespace plait
