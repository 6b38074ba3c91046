// SPDX-License-Identifier: Apache-2.0
// Stops a child with SIGSTOP and continues it after `ms`, `count` times; the child pauses. Truth:
// the clock from the report that it has stopped to SIGCONT.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 3), ms = options.number("ms", 300);
  const std::string cgroup = options.text("cgroup", "");
  options.done();

  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_cgroup(cgroup);
    for (;;) ::pause();
  }
  static Waits waits;
  first_gate();
  for (int i = 0; i < count; ++i) {
    ::kill(child, SIGSTOP);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED);
    timed(waits, [&] { return sleep_ns(ms * 1'000'000LL), 0; });
    ::kill(child, SIGCONT);
    ::waitid(P_PID, static_cast<id_t>(child), &info, WCONTINUED);
    sleep_ns(2'000'000);
  }
  Report report;
  report.add("stopped", waits);
  report.add("child", child);
  report.second_gate();
}
