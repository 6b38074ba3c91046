// SPDX-License-Identifier: Apache-2.0
// Sleeps `count` times `us` microseconds, in the main thread or in `threads` others. Truth: every
// sleep is one wait of at least that long. With `flip`, another thread moves the sleeper to another
// CPU every millisecond: a sleep is the same wherever it ends.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "workload.h"

using namespace workload;

namespace {

std::atomic<bool> asleep{true};
std::atomic<pid_t> sleeper{0};

void flip_until_done(Waits& naps) {
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  for (long i = 0; asleep; ++i) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(i % cpus), &set);
    if (sleeper != 0) ::sched_setaffinity(sleeper, sizeof set, &set);
    timed(naps, [] { return sleep_ns(1'000'000), 0; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 100), us = options.number("us", 10'000);
  const int threads = options.number("threads", 0), flip = options.number("flip", 0);
  pin(options.number("cpu", -1));
  options.done();

  static Waits sleeps[64], naps;
  const auto sleep_all = [&](int member) {
    for (int i = 0; i < count; ++i) {
      timed(sleeps[member], [&] { return sleep_ns(us * 1'000LL), 0; });
    }
  };
  Crew others(Crew::Of::Threads, flip ? 1 : threads, [&](int member) {
    if (flip) {
      flip_until_done(naps);
    } else {
      sleep_all(member + 1);
    }
  });
  first_gate();
  others.go();
  if (threads == 0) {
    sleeper = static_cast<pid_t>(::syscall(SYS_gettid));
    sleep_all(0);
    sleeper = 0;
  }
  asleep = false;
  others.finished();

  Report report;
  static Waits all;
  for (int i = 0; i <= threads; ++i) {
    for (int j = 0; j < sleeps[i].count && j < Waits::kKeep; ++j) all.add(sleeps[i].kept[j]);
  }
  report.add("sleep", all);
  if (flip) report.add("nap", naps);
  report.second_gate();
}
