// SPDX-License-Identifier: Apache-2.0
// Threads that wait in three functions whose totals are 1 : 10 : 100, in short sleeps, and in a
// fourth one in long sleeps, for `ms`. Truth: what the program's own clock says of each function,
// less what schedstat says its threads waited for a CPU there. Compiled without frame pointers.
#include <mutex>

#include "workload.h"

using namespace workload;

namespace {

struct Places {
  Waits one, ten, hundred, longer;
};

constexpr std::int64_t kShort = 1'000'000, kLong = 60'000'000;

}  // namespace

// One wait each, and something to do behind it, so that the call is no jump.
#define PLACE(name, ns)                                      \
  extern "C" [[gnu::noinline]] void name(Waits& waits) {     \
    timed_with_delay(waits, [] { return sleep_ns(ns), 0; }); \
    asm volatile("" ::: "memory");                           \
  }
PLACE(wait_one, kShort)
PLACE(wait_ten, kShort)
PLACE(wait_hundred, kShort)
PLACE(wait_long, kLong)

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 4), ms = options.number("ms", 5'000);
  options.done();

  static Places all;
  static std::mutex mutex;
  Crew crew(Crew::Of::Threads, threads, [&](int) {
    Places mine;
    for (const std::int64_t end = now_ns() + ms * 1'000'000LL; now_ns() < end;) {
      wait_one(mine.one);
      for (int i = 0; i < 10; ++i) wait_ten(mine.ten);
      for (int i = 0; i < 100; ++i) wait_hundred(mine.hundred);
      wait_long(mine.longer);
    }
    const std::lock_guard lock(mutex);
    const auto add = [](Waits& to, const Waits& from) {
      to.count += from.count;
      to.sum_ns += from.sum_ns;
      to.run_delay_ns += from.run_delay_ns;
    };
    add(all.one, mine.one);
    add(all.ten, mine.ten);
    add(all.hundred, mine.hundred);
    add(all.longer, mine.longer);
  });
  first_gate();
  crew.go();
  crew.finished();

  Report report;
  report.add("wait_one", all.one);
  report.add("wait_ten", all.ten);
  report.add("wait_hundred", all.hundred);
  report.add("wait_long", all.longer);
  report.second_gate();
}
