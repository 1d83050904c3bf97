// Interleaving: sequences of one model that are computed in pieces, drafted and cut, forked, kept and resumed, at
// random. Whatever happened before, every logit must have the bits of plain decoding.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "examine/session.h"

namespace plait::test {

class Interleaving {
 public:
  // `streams` texts of `length` random tokens; what plain decoding makes of them is computed first.
  Interleaving(Session& session, int streams, int length, std::uint64_t seed)
      : session_(session), cache_(session.stepper.cache()), length_(length), seed_(seed) {
    vocabulary_ = static_cast<std::size_t>(session.spec().vocabulary);
    for (int s = 0; s < streams; ++s) {
      std::vector<Token> tokens;
      for (int i = 0; i < length; ++i) tokens.push_back(draw_token());
      tokens_.push_back(std::move(tokens));
      plain_.push_back(decode(tokens_.back()));
    }
  }
  ~Interleaving() {
    for (const Runner& runner : runners_) cache_.close(runner.sequence);
    for (const Kept& kept : kept_) cache_.drop(kept.snapshot);
    cache_.check_integrity();
    EXPECT_EQ(cache_.stats().used_bytes, 0u);
  }

  void step() {
    const int act = draw(12);
    if (act <= 1 && runners_.size() < 8) {
      const int stream = draw(static_cast<int>(tokens_.size()));
      runners_.push_back({cache_.open({}), stream});
    } else if (act == 2 && runners_.size() > 2) {
      const std::size_t i = pick(runners_);
      cache_.close(runners_[i].sequence);
      runners_.erase(runners_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (act == 3 && !runners_.empty() && runners_.size() < 8) {
      const Runner& from = runners_[pick(runners_)];
      const auto copy = cache_.fork(*from.sequence, draw(from.sequence->computed() + 1));
      if (copy) runners_.push_back({*copy, from.stream});
    } else if (act == 4 && !runners_.empty() && kept_.size() < 4) {
      const Runner& from = runners_[pick(runners_)];
      kept_.push_back({cache_.snapshot(*from.sequence), from.stream});
    } else if (act == 5 && !kept_.empty()) {
      const std::size_t i = pick(kept_);
      const auto resumed = runners_.size() < 8 ? cache_.resume(*kept_[i].snapshot) : Result<Sequence*>(nullptr);
      if (resumed && *resumed != nullptr) runners_.push_back({*resumed, kept_[i].stream});
      cache_.drop(kept_[i].snapshot);
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      compute();
    }
    cache_.check_integrity();
  }

  int rows_compared() const { return rows_; }

 private:
  struct Runner {
    Sequence* sequence;
    int stream;
  };
  struct Kept {
    Snapshot* snapshot;
    int stream;
  };
  // What one sequence does in a step: `right` tokens of its text, then drafts that are wrong.
  struct Part {
    int stream, past, right, accepted;
  };

  int draw(int below) { return static_cast<int>(random_bits(seed_, draws_++) % static_cast<std::uint64_t>(below)); }
  Token draw_token() { return static_cast<Token>(draw(static_cast<int>(vocabulary_))); }
  template <class T>
  std::size_t pick(const std::vector<T>& all) {
    return static_cast<std::size_t>(draw(static_cast<int>(all.size())));
  }

  std::vector<float> decode(const std::vector<Token>& tokens) {
    std::vector<float> rows;
    Sequence* sequence = cache_.open(tokens);
    for (int i = 0; i < length_; ++i) {
      const Work work{.sequence = sequence, .count = 1, .all_outputs = true};
      const auto sink = [&](int, std::span<float> row) { rows.insert(rows.end(), row.begin(), row.end()); };
      EXPECT_TRUE(session_.stepper.step({&work, 1}, sink));
      cache_.commit(sequence, 1);
    }
    cache_.close(sequence);
    return rows;
  }

  void compute() {
    std::vector<Work> work;
    std::vector<Part> parts;
    for (const Runner& runner : runners_) {
      if (draw(3) == 0) continue;
      Sequence& s = *runner.sequence;
      const std::vector<Token>& text = tokens_[static_cast<std::size_t>(runner.stream)];
      const int past = s.computed(), left = length_ - past;
      if (left == 0) continue;
      const int most = draw(4) == 0 ? left : std::min(left, 8);
      const int right = 1 + draw(most);
      for (int i = s.known(); i < past + right; ++i) s.append(text[static_cast<std::size_t>(i)]);
      // Tokens that a fork still knows are computed first; then up to eight drafts, all of which may be wrong.
      const int known = s.known() - past;
      const bool drafts = draw(2) == 0;
      const int wrong = drafts ? 1 + draw(8) : 0;
      for (int i = 0; i < wrong; ++i) s.append(draw_token());
      const int uncertain = drafts ? wrong + draw(known + 1) : 0;
      const int count = known + wrong;
      const int accepted = drafts ? count - uncertain + draw(uncertain - wrong + 1) : count;
      work.push_back({.sequence = &s, .count = count, .all_outputs = true, .uncertain = uncertain});
      parts.push_back({runner.stream, past, known, accepted});
    }
    if (work.empty()) return;
    std::size_t part = 0;
    int row = 0;
    const auto sink = [&](int, std::span<float> logits) {
      if (row < parts[part].right) compare(parts[part], row, logits);
      if (++row == work[part].count) {
        ++part;
        row = 0;
      }
    };
    const auto stepped = session_.stepper.step(work, sink);
    ASSERT_TRUE(stepped) << stepped.error().message;
    for (std::size_t i = 0; i < work.size(); ++i) cache_.commit(work[i].sequence, parts[i].accepted);
  }

  void compare(const Part& part, int row, std::span<const float> logits) {
    const auto at = static_cast<std::size_t>(part.past + row) * vocabulary_;
    const std::vector<float>& plain = plain_[static_cast<std::size_t>(part.stream)];
    ASSERT_EQ(std::memcmp(logits.data(), plain.data() + at, vocabulary_ * sizeof(float)), 0)
        << "text " << part.stream << ", position " << part.past + row;
    ++rows_;
  }

  Session& session_;
  Cache& cache_;
  int length_;
  std::uint64_t seed_, draws_ = 0;
  std::size_t vocabulary_ = 0;
  int rows_ = 0;
  std::vector<std::vector<Token>> tokens_;
  std::vector<std::vector<float>> plain_;
  std::vector<Runner> runners_;
  std::vector<Kept> kept_;
};

// `steps` of them over the model at `path`.
inline void expect_same_bits_interleaved(const std::string& path, int steps, int length) {
  SessionOptions options;
  options.load.path = path;
  options.load.cpu.threads = 2;
  options.load.tokenizer = false;
  options.memory.context = 2 * length;
  options.memory.sequences = 24;
  options.batch = 9 * (length + 8);
  Result<Session> session = open_session(options);
  ASSERT_TRUE(session) << session.error().message;
  Interleaving run(*session, 3, length, 11);
  for (int i = 0; i < steps; ++i) {
    run.step();
    if (testing::Test::HasFailure()) FAIL() << "step " << i;
  }
  EXPECT_GT(run.rows_compared(), 5 * steps);
}

}  // namespace plait::test
