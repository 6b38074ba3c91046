// SPDX-License-Identifier: Apache-2.0
// A contended lock: `threads` take a mutex, work with it for a moment and release it, until all
// together did so `operations` times. Truth: how many times, how often a thread found the mutex
// taken, and the longest time for which one had it.
#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "workload.h"

using namespace workload;

namespace {

struct Mine {  // of one thread; a line of its own
  alignas(64) std::int64_t operations = 0;
  std::int64_t taken = 0;
  std::int64_t longest_ns = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = std::min(options.number("threads", 6), 64);
  const std::int64_t operations = options.number("operations", 10'000'000);
  options.done();

  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static std::int64_t done = 0;  // guarded by the mutex
  static Mine all[64];
  Crew crew(Crew::Of::Threads, threads, [&](int member) {
    Mine& mine = all[member];
    for (bool more = true; more;) {
      if (::pthread_mutex_trylock(&mutex) != 0) {
        ++mine.taken;
        ::pthread_mutex_lock(&mutex);
      }
      const std::int64_t since = now_ns();
      more = ++done < operations;
      const std::int64_t held = now_ns() - since;
      ::pthread_mutex_unlock(&mutex);
      ++mine.operations;
      mine.longest_ns = std::max(mine.longest_ns, held);
    }
  });
  first_gate();
  crew.go();
  crew.finished();

  Mine sum;
  for (const Mine& mine : all) {
    sum.operations += mine.operations;
    sum.taken += mine.taken;
    sum.longest_ns = std::max(sum.longest_ns, mine.longest_ns);
  }
  Report report;
  report.add("operations", sum.operations);
  report.add("taken", sum.taken);
  report.add("longest_ns", sum.longest_ns);
  report.second_gate();
}
