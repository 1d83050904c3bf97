// Interrupt: what Ctrl-C does. The two flags are global because a signal handler can see nothing else.
#include "interrupt.h"

#include <unistd.h>

#include <csignal>

namespace plait {
namespace {

constexpr int kInterrupted = 130;
volatile std::sig_atomic_t noted_only = 0;
volatile std::sig_atomic_t raised_flag = 0;

void handle(int) {
  if (noted_only == 0) _exit(kInterrupted);
  raised_flag = 1;
}

}  // namespace

void exit_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = handle;  // No SA_RESTART: a blocked read returns, so that the prompt of a chat sees Ctrl-C.
  sigaction(SIGINT, &action, nullptr);
}

InterruptFlag::InterruptFlag() {
  raised_flag = 0;
  noted_only = 1;
}

InterruptFlag::~InterruptFlag() { noted_only = 0; }

bool InterruptFlag::raised() const { return raised_flag != 0; }

void InterruptFlag::clear() { raised_flag = 0; }

}  // namespace plait
