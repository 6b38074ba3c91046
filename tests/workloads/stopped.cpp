// SPDX-License-Identifier: Apache-2.0
// Stops a child and lets it go on after `ms`, `count` times; the child pauses. `by` = signal
// (SIGSTOP and SIGCONT) or ptrace. Truth: the clock from the report that it has stopped to the call
// that continues it.
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "workload.h"

using namespace workload;

namespace {

void stop_by_signal(pid_t child, int ms, Waits& waits) {
  ::kill(child, SIGSTOP);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED);
  timed(waits, [&] { return sleep_ns(ms * 1'000'000LL), 0; });
  ::kill(child, SIGCONT);
  ::waitid(P_PID, static_cast<id_t>(child), &info, WCONTINUED);
}

void stop_by_ptrace(pid_t child, int ms, Waits& waits) {
  if (::ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr) != 0) fail("PTRACE_INTERRUPT");
  if (::waitpid(child, nullptr, __WALL) != child) fail("waitpid");
  timed(waits, [&] { return sleep_ns(ms * 1'000'000LL), 0; });
  if (::ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) fail("PTRACE_CONT");
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 3), ms = options.number("ms", 300);
  const std::string cgroup = options.text("cgroup", "");
  const bool by_ptrace = options.text("by", "signal") == "ptrace";
  options.done();

  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_cgroup(cgroup);
    for (;;) ::pause();
  }
  static Waits waits;
  if (by_ptrace && ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr) != 0) fail("PTRACE_SEIZE");
  first_gate();
  for (int i = 0; i < count; ++i) {
    (by_ptrace ? stop_by_ptrace : stop_by_signal)(child, ms, waits);
    sleep_ns(2'000'000);
  }
  Report report;
  report.add("stopped", waits);
  report.add("child", child);
  report.second_gate();
}
