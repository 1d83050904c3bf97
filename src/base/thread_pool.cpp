// ThreadPool: workers wait on a generation number, first spinning, then sleeping on it.
#include "base/thread_pool.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/float_mode.h"

namespace plait {
namespace {

// Longer than the gap between two operations of a step, much shorter than a slice of time of another process.
constexpr std::chrono::microseconds kSpinTime{50};
constexpr int kSpinsALook = 64;  // Between two looks at the clock.
constexpr int kWordBits = 64;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#else
  std::this_thread::yield();
#endif
}

// Returns the value once it is no longer `old`: spins, then sleeps. A pause takes 10 to 150 cycles, depending on the
// processor, so the spinning is bounded by the clock: who spins on a busy machine uses up what it needs to compute.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < kSpinsALook; ++i) {
      if (const T now = value.load(std::memory_order_acquire); now != old) return now;
      relax();
    }
    if (std::chrono::steady_clock::now() - start > kSpinTime) break;
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(ThreadPlan plan)
    : plan_(std::move(plan)),
      threads_(plan_.threads),
      claimed_(static_cast<std::size_t>((threads_ * kMostEach + kWordBits - 1) / kWordBits)) {
  check(threads_ >= 1, "a thread pool has at least its caller");
  check(plan_.places.empty() || plan_.places.size() == static_cast<std::size_t>(threads_), "each worker has a place");
  for (auto& word : claimed_) word.store(~std::uint64_t{0}, std::memory_order_relaxed);
  try {
    for (int i = 1; i < plan_.threads; ++i) workers_.emplace_back([this, i] { worker_loop(i); });
  } catch (const std::system_error&) {  // No memory for a stack, or a limit on threads. Workers read threads_ in run().
    threads_ = static_cast<int>(workers_.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const std::function<void(int, int)>& work, Sharing sharing) {
  const auto body = [&work](int share, int shares, int) { work(share, shares); };
  run_shares(1, std::ref(body), sharing);  // By reference: a copy would be allocated.
}

void ThreadPool::run_shares(int each, const ShareBody& work, Sharing sharing) {
  check(each >= 1 && each <= kMostEach, "a worker has a few shares");
  const FloatMode mode;
  if (threads_ == 1) {
    work(0, 1, 0);
    return;
  }
  const int shares = threads_ * each;
  work_ = &work;
  each_.store(each, std::memory_order_relaxed);
  sharing_.store(sharing, std::memory_order_relaxed);
  remaining_.store(shares, std::memory_order_relaxed);
  begin_shares(shares);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  do_shares(0);
  for (int left = remaining_.load(std::memory_order_acquire); left != 0;) left = wait_for_change(remaining_, left);
}

// A worker that comes late, having seen an older generation, may claim a share from here on: all else is in place.
void ThreadPool::begin_shares(int count) {
  for (std::size_t i = 0; i < claimed_.size(); ++i) {
    const int shares = count - static_cast<int>(i) * kWordBits;
    const std::uint64_t none = shares >= kWordBits ? 0 : ~std::uint64_t{0} << (shares > 0 ? shares : 0);
    claimed_[i].store(none, std::memory_order_release);
  }
}

bool ThreadPool::claim(int share) {
  std::atomic<std::uint64_t>& word = claimed_[static_cast<std::size_t>(share / kWordBits)];
  const std::uint64_t bit = std::uint64_t{1} << (share % kWordBits);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
}

// Its own shares, then those that nobody has begun. A call ends only when every claimed share is done, so work_ is that
// of the claim.
void ThreadPool::do_shares(int own) {
  int done = do_shares_of(own, false, own);
  for (int i = 1; i < threads_; ++i) {
    if (sharing_.load(std::memory_order_relaxed) == Sharing::kOwn) break;
    done += do_shares_of(own + i < threads_ ? own + i : own + i - threads_, true, own);
  }
  if (done > 0 && remaining_.fetch_sub(done, std::memory_order_acq_rel) == done) remaining_.notify_one();
}

// Who comes late may read an older number of shares, and then finds all of them claimed or claims what is there.
int ThreadPool::do_shares_of(int owner, bool backwards, int worker) {
  const int each = each_.load(std::memory_order_relaxed);
  int done = 0;
  for (int i = 0; i < each; ++i) {
    const int share = owner * each + (backwards ? each - 1 - i : i);
    if (!claim(share)) continue;
    (*work_)(share, threads_* each_.load(std::memory_order_relaxed), worker);
    ++done;
  }
  return done;
}

KeptThread ThreadPool::keep_caller() const {
  return plan_.places.empty() ? KeptThread() : KeptThread(plan_.places.front().processors);
}

void ThreadPool::worker_loop(int worker) {
  const FloatMode mode;
  if (!plan_.places.empty()) keep_thread(0, plan_.places[static_cast<std::size_t>(worker)].processors);
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(generation_, seen);
    if (stop_.load(std::memory_order_relaxed)) return;
    do_shares(worker);
  }
}

void ThreadPool::parallel_for(int count, const std::function<void(int, int, int)>& body, Sharing sharing, int each) {
  const auto share = [&](int i, int shares, int worker) {
    const auto [begin, end] = share_of(count, i, shares);
    if (begin < end) body(begin, end, worker);
  };
  run_shares(each, std::ref(share), sharing);
}

}  // namespace plait
