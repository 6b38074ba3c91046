// SPDX-License-Identifier: Apache-2.0
// A lock convoy: for `ms`, each of `threads` takes a mutex and sleeps `hold_us` with it, while the
// others wait. Truth: their own clock around each acquisition and each sleep, and what of it was a
// wait for a CPU.
#include <pthread.h>

#include <utility>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 3), ms = options.number("ms", 10'000);
  const int hold_us = options.number("hold_us", 20'000);
  options.done();

  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static Waits waits[64], holds[64];
  Crew convoy(Crew::Of::Threads, threads, [&](int member) {
    for (const std::int64_t end = now_ns() + ms * 1'000'000LL; now_ns() < end;) {
      timed_with_delay(waits[member], [] { return ::pthread_mutex_lock(&mutex); });
      timed_with_delay(holds[member], [&] {
        sleep_ns(hold_us * 1000LL);
        return 0;
      });
      ::pthread_mutex_unlock(&mutex);
      sleep_ns(200'000);  // whoever was woken takes it, and not this thread again
    }
  });
  first_gate();
  convoy.go();
  convoy.finished();

  static Waits waited, held;
  for (int i = 0; i < threads; ++i) {
    for (auto [sum, of] : {std::pair(&waited, &waits[i]), std::pair(&held, &holds[i])}) {
      sum->count += of->count;
      sum->sum_ns += of->sum_ns;
      sum->run_delay_ns += of->run_delay_ns;
    }
  }
  Report report;
  report.add("lock", waited);
  report.add("hold", held);
  report.second_gate();
}
