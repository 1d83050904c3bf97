// The gated delta rule token by token; one IEEE operation or one std::fma at a time.
#include "support/recur_reference.h"

#include <cmath>
#include <span>

#include "support/float_reference.h"

namespace plait {
namespace {

constexpr std::size_t kChunk = 16;

std::span<const float> row(const std::vector<float>& rows, std::size_t t, std::size_t width) {
  return std::span(rows).subspan(t * width, width);
}

// The usual step: decay, what the key returns, update, what the query returns.
template <class T>
std::vector<T> step_by_step(const RecurHead& h) {
  const auto tokens = static_cast<std::size_t>(h.tokens), dk = static_cast<std::size_t>(h.key_dim),
             dv = static_cast<std::size_t>(h.value_dim);
  std::vector<T> state(dk * dv), out(tokens * dv), x(dv);
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::span<const float> k = row(h.k, t, dk), q = row(h.q, t, dk), v = row(h.v, t, dv);
    x.assign(dv, 0);
    for (std::size_t i = 0; i < dk; ++i) {
      for (std::size_t c = 0; c < dv; ++c) {
        T& s = state[i * dv + c];
        s *= static_cast<T>(h.decay[t]);
        x[c] += static_cast<T>(k[i]) * s;
      }
    }
    for (std::size_t c = 0; c < dv; ++c) x[c] = static_cast<T>(h.beta[t]) * (static_cast<T>(v[c]) - x[c]);
    for (std::size_t i = 0; i < dk; ++i) {
      for (std::size_t c = 0; c < dv; ++c) {
        T& s = state[i * dv + c];
        s += static_cast<T>(k[i]) * x[c];
        out[t * dv + c] += static_cast<T>(q[i]) * s;
      }
    }
  }
  return out;
}

// The chunk's rows begin at token `begin`; token t is one of them.
class Row {
 public:
  Row(const RecurHead& h, std::size_t begin, std::size_t t) : count_(t - begin), c_(count_), d_(count_ + 1) {
    const auto dk = static_cast<std::size_t>(h.key_dim);
    const std::span<const float> k = row(h.k, t, dk), q = row(h.q, t, dk);
    double decay = 1;
    d_[count_] = rule::dot16(q, k);
    for (std::size_t j = count_; j-- > 0;) {
      decay *= static_cast<double>(h.decay[begin + j + 1]);
      c_[j] = rule::dot16(k, row(h.k, begin + j, dk)) * static_cast<float>(decay);
      d_[j] = rule::dot16(q, row(h.k, begin + j, dk)) * static_cast<float>(decay);
    }
    z_ = static_cast<float>(decay * static_cast<double>(h.decay[begin]));
  }
  // Column c of what `key` finds in the state and, by `weights`, in the rows of `u` from the chunk's beginning on.
  float read(std::span<const float> key, const std::vector<float>& state, const std::vector<float>& weights,
             const float* u, std::size_t c, std::size_t dv) const {
    float x = 0;
    for (std::size_t i = 0; i < key.size(); ++i) x = std::fma(key[i], state[i * dv + c], x);
    x = z_ * x;
    for (std::size_t j = 0; j < weights.size(); ++j) x = std::fma(weights[j], u[j * dv + c], x);
    return x;
  }
  const std::vector<float>& c() const { return c_; }
  const std::vector<float>& d() const { return d_; }

 private:
  std::size_t count_;
  std::vector<float> c_, d_;
  float z_ = 0;
};

std::vector<float> fold(const RecurHead& h, std::size_t begin, const std::vector<float>& state, const float* u) {
  const auto dk = static_cast<std::size_t>(h.key_dim), dv = static_cast<std::size_t>(h.value_dim);
  std::vector<float> weights(kChunk * dk), next(state.size());
  double decay = 1;
  for (std::size_t j = kChunk; j-- > 0;) {
    for (std::size_t i = 0; i < dk; ++i) weights[j * dk + i] = static_cast<float>(decay) * h.k[(begin + j) * dk + i];
    decay *= static_cast<double>(h.decay[begin + j]);
  }
  for (std::size_t i = 0; i < dk; ++i) {
    for (std::size_t c = 0; c < dv; ++c) {
      float s = static_cast<float>(decay) * state[i * dv + c];
      for (std::size_t j = 0; j < kChunk; ++j) s = std::fma(weights[j * dk + i], u[j * dv + c], s);
      next[i * dv + c] = s;
    }
  }
  return next;
}

}  // namespace

namespace rule {

RecurTrace recur(const RecurHead& h) {
  const auto tokens = static_cast<std::size_t>(h.tokens), dk = static_cast<std::size_t>(h.key_dim),
             dv = static_cast<std::size_t>(h.value_dim);
  RecurTrace trace;
  trace.out.resize(tokens * dv);
  trace.u.resize(tokens * dv);
  std::vector<float> state(dk * dv);
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::size_t begin = t / kChunk * kChunk;
    const Row r(h, begin, t);
    const float* const u = trace.u.data() + begin * dv;
    for (std::size_t c = 0; c < dv; ++c) {
      const float x = r.read(row(h.k, t, dk), state, r.c(), u, c, dv);
      trace.u[t * dv + c] = h.beta[t] * (h.v[t * dv + c] - x);
      trace.out[t * dv + c] = r.read(row(h.q, t, dk), state, r.d(), u, c, dv);
    }
    if ((t + 1) % kChunk != 0) continue;
    state = fold(h, begin, state, u);
    trace.anchors.push_back(state);
  }
  return trace;
}

}  // namespace rule

namespace classic {
std::vector<float> recur(const RecurHead& head) { return step_by_step<float>(head); }
}  // namespace classic
namespace exact {
std::vector<double> recur(const RecurHead& head) { return step_by_step<double>(head); }
}  // namespace exact

double rms_error(const std::vector<float>& found, const std::vector<double>& wanted) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - wanted[i];
    error += difference * difference;
    size += wanted[i] * wanted[i];
  }
  return std::sqrt(error / size);
}

}  // namespace plait
