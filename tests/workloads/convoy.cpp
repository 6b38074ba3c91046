// SPDX-License-Identifier: Apache-2.0
// A lock convoy: for `ms`, each of `threads` takes a mutex and sleeps `hold_us` with it, while the
// others wait. Truth: their own clock around each acquisition, and what of it was a wait for a CPU.
#include <pthread.h>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 3), ms = options.number("ms", 10'000);
  const int hold_us = options.number("hold_us", 20'000);
  options.done();

  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static Waits waits[64];
  Crew convoy(Crew::Of::Threads, threads, [&](int member) {
    for (const std::int64_t end = now_ns() + ms * 1'000'000LL; now_ns() < end;) {
      timed_with_delay(waits[member], [] { return ::pthread_mutex_lock(&mutex); });
      sleep_ns(hold_us * 1000LL);
      ::pthread_mutex_unlock(&mutex);
      sleep_ns(200'000);  // whoever was woken takes it, and not this thread again
    }
  });
  first_gate();
  convoy.go();
  convoy.finished();

  static Waits all;
  for (int i = 0; i < threads; ++i) {
    all.count += waits[i].count;
    all.sum_ns += waits[i].sum_ns;
    all.run_delay_ns += waits[i].run_delay_ns;
  }
  Report report;
  report.add("lock", all);
  report.second_gate();
}
