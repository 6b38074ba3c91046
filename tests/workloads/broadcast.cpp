// SPDX-License-Identifier: Apache-2.0
// `threads` threads wait for a condition; the main thread broadcasts it `count` times, each time
// after all of them wait. Truth: threads x count waits, of which each saw about `pause_us`.
#include <condition_variable>
#include <mutex>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 8), count = options.number("count", 20);
  const int pause_us = options.number("pause_us", 10'000);
  options.done();

  std::mutex mutex;
  std::condition_variable changed, ready;
  int generation = 0, waiting = 0;
  static Waits waits;
  Crew waiters(Crew::Of::Threads, threads, [&](int) {
    std::unique_lock lock(mutex);
    for (int seen = 0; seen < count; ++seen) {
      ++waiting;
      timed(waits, [&] { return changed.wait(lock, [&] { return generation > seen; }), 0; });
    }
  });
  first_gate();
  waiters.go();
  for (int i = 0; i < count; ++i) {
    for (bool all = false; !all;) {
      sleep_ns(pause_us * 1000LL);
      const std::lock_guard lock(mutex);
      all = waiting == (i + 1) * threads;
      if (all) ++generation;
    }
    changed.notify_all();
  }
  waiters.finished();

  Report report;
  report.add("condvar", waits);
  report.second_gate();
}
