// SPDX-License-Identifier: Apache-2.0
// `rate` children a second for `ms`, each of which sleeps `us` and ends. The parent keeps the pace
// with poll(), so every sleep is a child's. Truth: the children's own clocks, added up in memory
// that they share.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int rate = options.number("rate", 800), ms = options.number("ms", 10'000);
  const int us = options.number("us", 1'000);
  options.done();

  struct Sleeps {
    std::atomic<std::int64_t> count{0}, sum_ns{0};
  };
  auto& sleeps = shared<Sleeps>();
  const timespec nap{us / 1'000'000, us % 1'000'000 * 1000L};
  first_gate();
  const std::int64_t begin = now_ns(), end = begin + ms * 1'000'000LL;
  std::int64_t forks = 0, reaped = 0;
  while (now_ns() < end) {
    const std::int64_t due = (now_ns() - begin) * rate / 1'000'000'000;
    for (; forks < due; ++forks) {
      const pid_t child = ::fork();
      if (child < 0) fail("fork");
      if (child != 0) continue;
      const std::int64_t asleep = now_ns();
      ::nanosleep(&nap, nullptr);
      sleeps.sum_ns += now_ns() - asleep;
      ++sleeps.count;
      ::_exit(0);
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) ++reaped;
    ::poll(nullptr, 0, 5);
  }
  for (; reaped < forks; ++reaped) ::waitpid(-1, nullptr, 0);

  Report report;
  report.add("children", sleeps.count.load());
  report.add("children_sleep_ns", sleeps.sum_ns.load());
  report.second_gate();
}
