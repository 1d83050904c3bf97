// Prefill and decode, timed: one pass to warm up, then rounds.
#include "examine/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "base/half.h"
#include "base/random.h"
#include "examine/bandwidth.h"

namespace plait {
namespace {

constexpr std::uint64_t kSeed = 7;

std::vector<Token> random_tokens(int count, int vocabulary, std::uint64_t seed) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<Token>(random_bits(seed, i) % static_cast<std::uint64_t>(vocabulary));
  return tokens;
}

// Small random numbers in every row of these blocks, read as f16, bf16 or f32: the bytes 0x2c .. 0x2f on top of each
// 16-bit half are about 0.06 to 0.12 in f16 and tiny in the other two.
void fill_block(std::byte* block, std::size_t bytes, std::uint64_t seed) {
  auto* halves = reinterpret_cast<std::uint16_t*>(block);
  for (std::size_t i = 0; i < bytes / 2; ++i) {
    const std::uint64_t bits = random_bits(seed, i);
    halves[i] = static_cast<std::uint16_t>((bits & 0x83ffu) | 0x2c00u);
  }
}

// Makes the sequence's first `depth` tokens count as computed, their rows being random.
Result<void> fill_context(Session& session, Sequence* sequence, int depth) {
  if (depth == 0) return {};
  Cache& cache = session.stepper.cache();
  const Work work{.sequence = sequence, .count = depth};
  Batch batch;
  if (Result<void> prepared = cache.prepare({&work, 1}, batch); !prepared) return prepared;
  for (const LayerState& layer : cache.states()) {
    for (const RowStream& stream : layer.rows) {
      if (stream.buffer == nullptr || stream.block_bytes == 0) continue;
      for (const int block : batch.segments[0].blocks[static_cast<std::size_t>(stream.group)]) {
        if (block < 0) continue;
        fill_block(stream.buffer->host() + stream.offset + static_cast<std::size_t>(block) * stream.stride,
                   stream.block_bytes, static_cast<std::uint64_t>(block));
      }
    }
  }
  for (const LayerState& layer : cache.states()) {
    for (const AnchorOut& anchor : batch.segments[0].anchors_out) {
      if (layer.anchors == nullptr) continue;
      fill_block(
          layer.anchors->host() + layer.anchor_offset + static_cast<std::size_t>(anchor.slot) * layer.anchor_stride,
          layer.anchor_bytes, static_cast<std::uint64_t>(anchor.slot));
    }
  }
  cache.commit(sequence, depth);
  return {};
}

// Computes `count` more tokens of each sequence in steps of at most `chunk`; seconds.
Result<double> run(Session& session, std::span<Sequence* const> sequences, int count, int chunk, bool with_logits) {
  Cache& cache = session.stepper.cache();
  const auto start = std::chrono::steady_clock::now();
  for (int done = 0; done < count;) {
    const int now = std::min(chunk, count - done);
    std::vector<Work> work;
    for (Sequence* sequence : sequences)
      work.push_back({.sequence = sequence, .count = now, .all_outputs = with_logits});
    if (Result<void> stepped = session.stepper.step(work, [](int, std::span<float>) {}); !stepped)
      return fail(stepped.error());
    for (Sequence* sequence : sequences) cache.commit(sequence, now);
    done += now;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return seconds.count();
}

// One round of one kind, from fresh sequences: tokens a second over all sequences.
Result<double> round_of(Session& session, const SpeedOptions& options, bool decode) {
  const int count = decode ? options.decode : options.prefill;
  const int together = decode ? options.sequences : 1;
  std::vector<Sequence*> sequences;
  Result<void> filled;
  for (int i = 0; i < together && filled; ++i) {
    const std::uint64_t seed = kSeed + static_cast<std::uint64_t>(i);
    sequences.push_back(
        session.stepper.cache().open(random_tokens(options.depth + count, session.spec().vocabulary, seed)));
    filled = fill_context(session, sequences.back(), options.depth);
  }
  Result<double> seconds = 0.0;
  if (filled) {
    seconds = run(session, sequences, count, decode ? 1 : session.stepper.max_tokens(), decode);
  } else {
    seconds = fail(filled.error());
  }
  for (Sequence* sequence : sequences) session.stepper.cache().close(sequence);
  if (!seconds) return fail(seconds.error());
  return static_cast<double>(count) * together / *seconds;
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  const std::size_t n = numbers.size();
  return n % 2 == 1 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

// One round and the machine's read bandwidth just before it: on a shared machine that changes from second to second.
struct Round {
  double tokens_per_s = 0, read_gbps = 0;
};

SpeedTest summary(const SpeedOptions& options, bool decode, std::span<const Round> rounds, double bytes) {
  std::vector<double> rates, shares;
  for (const Round& round : rounds) {
    rates.push_back(round.tokens_per_s);
    if (round.read_gbps > 0) shares.push_back(bytes * round.tokens_per_s / 1e9 / round.read_gbps);
  }
  SpeedTest test{.kind = decode ? "decode" : "prefill",
                 .tokens = decode ? options.decode : options.prefill,
                 .depth = options.depth,
                 .median_tokens_per_s = median(rates),
                 .min = *std::min_element(rates.begin(), rates.end()),
                 .max = *std::max_element(rates.begin(), rates.end())};
  test.gbps = bytes * test.median_tokens_per_s / 1e9;
  test.bandwidth_share = median(shares);
  return test;
}

// What memory gives for one token, on average: the step's weights, shared by the tokens of a step, and in decode the
// token's past.
double bytes_a_token(const Session& session, const SpeedOptions& options, bool decode) {
  const auto weights = static_cast<double>(session.spec().step_weight_bytes);
  if (!decode) return weights / std::min(options.prefill, session.stepper.max_tokens());
  const StateCost& cost = session.stepper.cache().cost();
  double past = 0;
  for (int i = 0; i < options.decode; ++i) past += static_cast<double>(cost.read(options.depth + i));
  return weights / options.sequences + past / options.decode;
}

}  // namespace

Result<SpeedReport> measure_speed(Session& session, const SpeedOptions& options,
                                  const std::function<void(int, int)>& progress) {
  SpeedReport report;
  std::optional<ReadBandwidth> memory;
  session.loaded.backend->host([&](const Kernels&, ThreadPool& pool) { memory.emplace(pool); });
  std::vector<double> bandwidths;
  const int kinds = (options.prefill > 0 ? 1 : 0) + (options.decode > 0 ? 1 : 0);
  int done = 0;
  for (const bool decode : {false, true}) {
    if ((decode ? options.decode : options.prefill) == 0) continue;
    std::vector<Round> rounds;
    for (int i = -1; i < options.rounds; ++i) {
      Round round{.read_gbps = memory->gbps(3)};
      const Result<double> rate = round_of(session, options, decode);
      if (!rate) return fail(rate.error());
      round.tokens_per_s = *rate;
      bandwidths.push_back(round.read_gbps);
      if (i >= 0) rounds.push_back(round);
      if (progress) progress(++done, kinds * (options.rounds + 1));
    }
    report.tests.push_back(summary(options, decode, rounds, bytes_a_token(session, options, decode)));
  }
  report.read_gbps = median(bandwidths);
  return report;
}

}  // namespace plait
