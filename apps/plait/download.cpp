// Download: a file over HTTP into a PartFile, resumed where it broke off, verified at the end.
#include "download.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "http_get.h"
#include "interrupt.h"
#include "progress.h"
#include "sha256.h"

namespace plait {
namespace {

constexpr int kMostResponses = 200;  // A server that breaks off after every few bytes is given up at last.
constexpr std::uint64_t kLongCheckBytes = std::uint64_t{1} << 30;  // From here on checking shows its own progress.

enum class Next { kVerify, kRetry, kGiveUp };

class Download {
 public:
  Download(const DownloadRequest& request, PartFile& part)
      : request_(request),
        part_(part),
        bytes_(request.bytes),
        sha256_(request.sha256),
        progress_(request.label, request.bytes.value_or(0), ProgressUnit::kBytes) {}

  Result<void> run();

 private:
  Next attempt();
  Next judge(const HttpResult& result);
  bool begin(const HttpAnswer& answer, std::uint64_t from);
  bool data(std::span<const char> bytes);
  bool set_fault(Unexpected fault);
  Unexpected refusal(const HttpAnswer& answer) const;
  bool wait(int failures) const;

  const DownloadRequest& request_;
  PartFile& part_;
  std::optional<std::uint64_t> bytes_;  // Of the whole, once anybody has said so.
  std::string sha256_;
  Progress progress_;
  InterruptFlag interrupt_;
  bool resumed_ = false;  // Some of it came in an earlier response.
  bool restarted_ = false;
  std::optional<Error> fault_;
};

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Unexpected cancelled() {
  return fail(ErrorCode::kCancelled, "interrupted; what has come is kept, and the next pull goes on from there");
}

Result<void> Download::run() {
  int failures = 0;
  for (int responses = 0;; ++responses) {
    const std::uint64_t before = part_.size();
    const bool all_here = bytes_ && part_.size() == *bytes_ && !sha256_.empty();
    const Next next = all_here ? Next::kVerify : attempt();
    if (next == Next::kGiveUp) return fail(*fault_);
    if (next == Next::kVerify) {
      progress_.finish();
      Result<void> verified = verify_file(part_.path(), request_.label, bytes_, sha256_);
      if (verified || verified.error().code != ErrorCode::kCorrupt) return verified;
      // Two halves of different files do that, so a resumed one gets a second chance.
      const bool again = (resumed_ || all_here) && !restarted_;
      Result<void> emptied = part_.begin_again("");
      if (!again) return verified;
      if (!emptied) return emptied;
      restarted_ = true;
      continue;
    }
    if (part_.size() > before) failures = 0;
    if (++failures >= request_.tries || responses >= kMostResponses) return fail(*fault_);
    if (!wait(failures)) return cancelled();
  }
}

Next Download::attempt() {
  fault_.reset();
  // Without a mark or a checksum nothing would tell that the rest belongs to another file.
  const bool safe = !part_.etag().empty() || !sha256_.empty();
  const bool beyond = bytes_ && part_.size() >= *bytes_;
  const std::uint64_t from = safe && !beyond ? part_.size() : 0;
  const HttpRequest get{.url = request_.url, .token = request_.token, .from = from, .if_range = part_.etag()};
  return judge(http_get(get, {.begin = [&](const HttpAnswer& answer) { return begin(answer, from); },
                              .data = [&](std::span<const char> bytes) { return data(bytes); },
                              .tick = [&] { return !interrupt_.raised(); }}));
}

bool Download::begin(const HttpAnswer& answer, std::uint64_t from) {
  const bool rest = answer.status == 206;
  if (rest && answer.range_begin != from) {
    return set_fault(fail(ErrorCode::kNotFound, fmt::format("{}: the server sends bytes from {}, and {} was asked for",
                                                            request_.label, answer.range_begin.value_or(0), from)));
  }
  const std::optional<std::uint64_t> total = rest ? answer.total : answer.length;
  const std::optional<std::uint64_t> said = total ? total : answer.linked_size;
  if (bytes_ && said && *said != *bytes_) {
    return set_fault(fail(ErrorCode::kCorrupt, fmt::format("{}: the server has {} bytes, and {} are wanted",
                                                           request_.label, *said, *bytes_)));
  }
  if (!bytes_) bytes_ = said;
  if (sha256_.empty() && is_sha256(answer.linked_etag)) sha256_ = answer.linked_etag;
  progress_.set_total(bytes_.value_or(0));
  if (!rest) {
    Result<void> emptied = part_.begin_again(answer.etag);
    if (!emptied) return set_fault(fail(emptied.error()));
  }
  resumed_ = part_.size() > 0;
  progress_.update(part_.size());
  if (!bytes_ || *bytes_ <= part_.size()) return true;
  Result<void> room = part_.check_room(*bytes_ - part_.size());
  return room ? true : set_fault(fail(room.error()));
}

bool Download::data(std::span<const char> bytes) {
  if (bytes_ && part_.size() + bytes.size() > *bytes_) {
    return set_fault(fail(ErrorCode::kCorrupt,
                          fmt::format("{}: the server sends more than the {} bytes wanted", request_.label, *bytes_)));
  }
  Result<void> written = part_.append(bytes);
  if (!written) return set_fault(fail(written.error()));
  progress_.update(part_.size());
  return true;
}

// Always false: the callbacks stop the transfer with it.
bool Download::set_fault(Unexpected fault) {
  fault_ = std::move(fault.error);
  return false;
}

// Sets fault_ unless it is time to verify.
Next Download::judge(const HttpResult& result) {
  const HttpAnswer& answer = result.answer;
  if (interrupt_.raised()) return fault_ = cancelled().error, Next::kGiveUp;
  if (fault_) return Next::kGiveUp;
  if (result.end == HttpEnd::kUnreachable) {
    fault_ = Error{ErrorCode::kNotFound,
                   fmt::format("{}: {} cannot be reached: {}", request_.label, request_.url, result.fault)};
    return part_.size() > 0 && resumed_ ? Next::kRetry : Next::kGiveUp;
  }
  if (result.end == HttpEnd::kBroken) {
    fault_ = Error{ErrorCode::kNotFound,
                   fmt::format("{}: the connection broke at {} of {} bytes: {}", request_.label, part_.size(),
                               bytes_ ? fmt::to_string(*bytes_) : "unknown", result.fault)};
    resumed_ = true;
    return Next::kRetry;
  }
  if (answer.status == 200 || answer.status == 206) {
    if (!bytes_ || part_.size() == *bytes_) return Next::kVerify;
    fault_ = Error{ErrorCode::kNotFound, fmt::format("{}: {} of {} bytes came", request_.label, part_.size(), *bytes_)};
    return Next::kRetry;
  }
  fault_ = refusal(answer).error;
  if (answer.status == 416) {  // What is here is no beginning of what is there.
    Result<void> emptied = part_.begin_again("");
    if (!emptied) return fault_ = emptied.error(), Next::kGiveUp;
    return Next::kRetry;
  }
  const bool passing = answer.status == 408 || answer.status == 429 || answer.status >= 500;
  return passing ? Next::kRetry : Next::kGiveUp;
}

Unexpected Download::refusal(const HttpAnswer& answer) const {
  std::string why;
  if (answer.status == 401) {
    why = request_.token.empty() ? "it asks for a token (HF_TOKEN)" : "it does not accept the token";
  } else if (answer.status == 403) {
    why = request_.token.empty() ? "access is refused without a token (HF_TOKEN)"
                                 : "access is refused to this token; the model's licence may have to be accepted first";
  } else if (answer.status == 404) {
    why = "there is no such file";
  } else {
    why = "the server refuses";
  }
  if (!answer.reason.empty()) why += fmt::format(" (\"{}\")", answer.reason);
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: {} answers {}: {}", request_.label, request_.url, answer.status, why));
}

// False if Ctrl-C came.
bool Download::wait(int failures) const {
  const auto until = std::chrono::steady_clock::now() + request_.pause * (1 << std::min(failures - 1, 4));
  while (std::chrono::steady_clock::now() < until) {
    if (interrupt_.raised()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !interrupt_.raised();
}

}  // namespace

Result<void> download(const DownloadRequest& request, PartFile& part) { return Download(request, part).run(); }

Result<void> verify_file(const std::filesystem::path& path, const std::string& label,
                         std::optional<std::uint64_t> bytes, const std::string& sha256) {
  std::error_code code;
  const std::uint64_t size = std::filesystem::file_size(path, code);
  if (code) return fail(ErrorCode::kIo, fmt::format("'{}' cannot be read: {}", path.string(), code.message()));
  if (bytes && size != *bytes) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {} bytes came, and {} are wanted", label, size, *bytes));
  }
  if (sha256.empty()) return {};
  std::optional<Progress> progress;
  if (size >= kLongCheckBytes) progress.emplace("checking", size, ProgressUnit::kBytes);
  Result<std::string> found = sha256_of_file(path, [&](std::uint64_t done) {
    if (progress) progress->update(done);
    return true;
  });
  if (!found) return fail(found.error());
  if (*found == sha256) return {};
  return fail(ErrorCode::kCorrupt,
              fmt::format("{}: what came has the SHA-256 {}, and {} is wanted", label, *found, sha256));
}

}  // namespace plait
