// Raw logits: our sequence in chunks, and others beside it.
#include "examine/logits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"

namespace plait {
namespace {

constexpr int kCompanyStep = 4;     // Tokens of another sequence in one step: 1 to this.
constexpr int kCompanyLength = 96;  // Others are closed and opened anew at this length, so blocks change hands.
constexpr std::uint64_t kCompanySeed = 20'26;

// The other sequences of every step.
class Company {
 public:
  Company(Cache& cache, int count, int vocabulary)
      : cache_(cache), vocabulary_(vocabulary), sequences_(static_cast<std::size_t>(count)) {}
  ~Company() {
    for (Sequence* sequence : sequences_) {
      if (sequence != nullptr) cache_.close(sequence);
    }
  }

  // Adds their work to a step; half of them come before ours, so that our rows move within the batch.
  void add(std::vector<Work>& work, bool before) {
    const std::size_t half = sequences_.size() / 2;
    for (std::size_t i = before ? 0 : half; i < (before ? half : sequences_.size()); ++i) work.push_back(next(i));
  }

  void commit(std::span<const Work> work, const Sequence* ours) {
    for (const Work& item : work) {
      if (item.sequence != ours) cache_.commit(item.sequence, item.count);
    }
  }

 private:
  Work next(std::size_t i) {
    Sequence*& sequence = sequences_[i];
    const int count = 1 + static_cast<int>(random_bits(kCompanySeed, drawn_++) % kCompanyStep);
    if (sequence != nullptr && sequence->computed() + count > sequence->known()) {
      cache_.close(sequence);
      sequence = nullptr;
    }
    if (sequence == nullptr) {
      std::vector<Token> tokens(kCompanyLength);
      for (Token& token : tokens)
        token = static_cast<Token>(random_bits(kCompanySeed, drawn_++) % static_cast<std::uint64_t>(vocabulary_));
      sequence = cache_.open(tokens);
    }
    return {.sequence = sequence, .count = count};
  }

  Cache& cache_;
  int vocabulary_;
  std::vector<Sequence*> sequences_;
  std::uint64_t drawn_ = 0;
};

// Copies the rows of our tokens out of the residual stream.
class HiddenRows {
 public:
  HiddenRows(Session& session, std::size_t tokens)
      : backend_(*session.loaded.backend),
        dim_(static_cast<std::size_t>(session.spec().dim)),
        tokens_(tokens),
        values_((session.spec().layers.size() + 1) * tokens * dim_) {}

  void take(int layer, Tensor x, const Segment& segment) {
    const std::size_t at = (static_cast<std::size_t>(layer) * tokens_ + static_cast<std::size_t>(segment.past)) * dim_;
    backend_.read(x.slice_rows(segment.begin, segment.count),
                  std::span(values_).subspan(at, static_cast<std::size_t>(segment.count) * dim_));
  }
  std::vector<float> values() && { return std::move(values_); }

 private:
  Backend& backend_;
  std::size_t dim_, tokens_;
  std::vector<float> values_;
};

bool any_wanted(std::span<const int> positions, int begin, int end) {
  const auto first = std::lower_bound(positions.begin(), positions.end(), begin);
  return first != positions.end() && *first < end;
}

}  // namespace

void size_for(const LogitsRequest& request, SessionOptions& options) {
  const int others = request.company * kCompanyStep;
  options.batch = request.chunk > 0 ? request.chunk + others : std::max(options.batch, others + 1);
  options.batch = std::min(options.batch, static_cast<int>(request.ids.size()) + others);
  options.memory.context = std::max(static_cast<int>(request.ids.size()), kCompanyLength);
  options.memory.sequences = 1 + request.company;
}

Result<LogitsReport> compute_logits(Session& session, const LogitsRequest& request,
                                    const std::function<Result<void>(int, std::span<const float>)>& row) {
  if (Result<void> checked = check_ids(request.ids, session.spec().vocabulary); !checked) return fail(checked.error());
  Cache& cache = session.stepper.cache();
  std::vector<int> wanted = request.positions;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  Company company(cache, request.company, session.spec().vocabulary);
  HiddenRows hidden(session, request.hidden ? request.ids.size() : 0);
  Sequence* ours = cache.open(request.ids);
  LogitsReport report;
  const int total = static_cast<int>(request.ids.size());
  const int most = request.chunk > 0 ? request.chunk : session.stepper.max_tokens() - request.company * kCompanyStep;
  for (int done = 0; done < total;) {
    if (request.stop && request.stop()) return fail(ErrorCode::kCancelled, "interrupted");
    const int count = std::min(most, total - done);
    std::vector<Work> work;
    company.add(work, true);
    const std::size_t our_place = work.size();
    work.push_back({.sequence = ours, .count = count, .all_outputs = any_wanted(wanted, done, done + count)});
    company.add(work, false);
    Result<void> written;
    const auto& batch = session.stepper.batch();
    const auto sink = [&](int index, std::span<float> logits) {
      const int position = batch.outputs[static_cast<std::size_t>(index)] - batch.segments[our_place].begin + done;
      if (written && position >= done && position < done + count &&
          std::binary_search(wanted.begin(), wanted.end(), position)) {
        written = row(position, logits);
      }
    };
    Model::Observer observe;
    if (request.hidden) observe = [&](int layer, Tensor x) { hidden.take(layer, x, batch.segments[our_place]); };
    if (Result<void> stepped = session.stepper.step(work, sink, observe); !stepped) return fail(stepped.error());
    if (!written) return fail(written.error());
    cache.commit(ours, count);
    company.commit(work, ours);
    report.steps.push_back({count, static_cast<int>(work.size())});
    done += count;
  }
  cache.close(ours);
  if (request.hidden) report.hidden = std::move(hidden).values();
  return report;
}

}  // namespace plait
