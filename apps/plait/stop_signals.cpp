// StopSignals: a handler may do next to nothing, so it writes a byte to a pipe, which a thread reads. The pipe is
// global because a signal handler can see nothing else.
#include "stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "interrupt.h"

namespace plait {
namespace {

constexpr char kSignal = 's', kEnd = 'e';
int pipe_ends[2] = {-1, -1};

void tell(char what) {
  const int before = errno;
  while (::write(pipe_ends[1], &what, 1) < 0 && errno == EINTR) {
  }
  errno = before;
}

void handle(int) { tell(kSignal); }

void listen(const std::function<void()>& stop) {
  char what = 0;
  while (what != kEnd) {
    const ssize_t count = ::read(pipe_ends[0], &what, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1) return;
    if (what == kSignal) stop();
  }
}

}  // namespace

StopSignals::StopSignals(std::function<void()> stop) {
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return;  // Then Ctrl-C ends the program as everywhere else.
  thread_ = std::thread([stop = std::move(stop)] { listen(stop); });
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StopSignals::~StopSignals() {
  if (!thread_.joinable()) return;
  exit_on_interrupt();
  std::signal(SIGTERM, SIG_DFL);
  tell(kEnd);
  thread_.join();
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace plait
