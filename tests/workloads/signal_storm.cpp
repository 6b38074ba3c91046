// SPDX-License-Identifier: Apache-2.0
// Sleeps for `ms` while a timer sends a signal every `every_us`: each signal ends one sleep, and
// may come just as the thread goes to sleep. Truth: it cannot wait longer than the clock says.
#include <sys/time.h>

#include <csignal>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {
volatile std::sig_atomic_t signals = 0;
}

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int ms = options.number("ms", 1'000), every_us = options.number("every_us", 200);
  options.done();
  struct sigaction action = {};
  action.sa_handler = [](int) { signals = signals + 1; };
  ::sigaction(SIGALRM, &action, nullptr);

  static Waits waits;
  const timespec nap{0, 200'000};
  first_gate();
  const itimerval timer{{0, every_us}, {0, every_us}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
  const std::int64_t end = now_ns() + ms * 1'000'000LL;
  while (now_ns() < end) timed(waits, [&] { return ::nanosleep(&nap, nullptr); });
  const itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);

  Report report;
  report.add("sleep", waits);
  report.add("signals", signals);
  report.second_gate();
}
