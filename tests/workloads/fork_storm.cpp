// SPDX-License-Identifier: Apache-2.0
// `forks` children that end at once, then a sleeper: a tool that keeps state by process id runs out
// of room or meets old state here. Truth: the sleeper's own clock.
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int forks = options.number("forks", 12'000), count = options.number("count", 50);
  const int us = options.number("us", 10'000);
  options.done();

  static Waits waits;
  first_gate();
  for (int i = 0; i < forks; ++i) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  }
  const std::int64_t storm_over = now_ns();
  for (int i = 0; i < count; ++i) {
    timed(waits, [&] { return sleep_ns(us * 1000LL), 0; });
  }

  Report report;
  report.add("sleep", waits);
  report.add("storm_over_ns", storm_over);
  report.second_gate();
}
