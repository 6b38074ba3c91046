// SPDX-License-Identifier: Apache-2.0
// Starts `count` children that sleep `us` and waits for each: `kind` = wait4, waitid, or vfork,
// where the parent is held until the child is gone. Truth: the program's own clock.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

[[gnu::noinline]] pid_t vfork_sleeper(const timespec& nap) {
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const pid_t child = ::vfork();
  if (child != 0) return child;
  ::syscall(SYS_nanosleep, &nap, nullptr);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 10), us = options.number("us", 5'000);
  const std::string kind = options.text("kind", "wait4");
  options.done();

  static Waits waits;
  const timespec nap{us / 1'000'000, us % 1'000'000 * 1000L};
  first_gate();
  for (int i = 0; i < count; ++i) {
    if (kind == "vfork") {
      ::waitpid(timed(waits, [&] { return vfork_sleeper(nap); }), nullptr, 0);
      continue;
    }
    const pid_t child = ::fork();
    if (child == 0) {
      ::syscall(SYS_nanosleep, &nap, nullptr);
      ::_exit(0);
    }
    siginfo_t info;
    timed(waits, [&] {
      return kind == "waitid" ? ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED)
                              : ::waitpid(child, nullptr, 0);
    });
  }

  Report report;
  report.add("child", waits);
  report.second_gate();
}
