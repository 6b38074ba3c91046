// SPDX-License-Identifier: Apache-2.0
// A contended lock: `threads` take a mutex, work with it for a moment and release it, until they
// did so `operations` times while others waited for it. Truth: how many times that was, how often a
// thread found the mutex taken, and the longest time for which one had it.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>

#include "workload.h"

using namespace workload;

namespace {

// Once in so many times a thread lets others run while it has the lock: they find it taken.
constexpr std::int64_t kGivesWay = 64;

struct Mine {  // of one thread; a line of its own
  alignas(64) std::int64_t taken = 0;
  std::int64_t longest_ns = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = std::min(options.number("threads", 6), 64);
  const std::int64_t operations = options.number("operations", 10'000'000);
  options.done();

  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static std::int64_t contended = 0;    // guarded by the mutex
  static std::atomic<int> waiting = 0;  // threads
  static Mine all[64];
  Crew crew(Crew::Of::Threads, threads, [&](int member) {
    Mine& mine = all[member];
    std::int64_t operation = 0;
    for (bool more = true; more;) {
      if (::pthread_mutex_trylock(&mutex) != 0) {
        ++mine.taken;
        ++waiting;
        ::pthread_mutex_lock(&mutex);
        --waiting;
      }
      const std::int64_t since = now_ns();
      contended += waiting.load(std::memory_order_relaxed) > 0 ? 1 : 0;
      more = contended < operations;
      if (++operation % kGivesWay == 0) ::sched_yield();
      const std::int64_t held = now_ns() - since;
      ::pthread_mutex_unlock(&mutex);
      mine.longest_ns = std::max(mine.longest_ns, held);
    }
  });
  first_gate();
  crew.go();
  crew.finished();

  Mine sum;
  for (const Mine& mine : all) {
    sum.taken += mine.taken;
    sum.longest_ns = std::max(sum.longest_ns, mine.longest_ns);
  }
  Report report;
  report.add("contended", contended);
  report.add("taken", sum.taken);
  report.add("longest_ns", sum.longest_ns);
  report.second_gate();
}
