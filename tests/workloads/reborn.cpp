// SPDX-License-Identifier: Apache-2.0
// `count` times: a process that pauses is killed after `long_us`, and a new one with the very same
// process id sleeps `short_us` and ends. With `wrap`, forks first until the process ids have
// started over. The parent waits in poll(), so every sleep is a child's. Truth: 2 x count sleeps,
// none longer than its process lived. Ends with status 77 where the kernel lets nobody choose an
// id.
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

// fork() with a process id of one's choice; 0 in the child, -1 and errno as fork.
pid_t fork_as(pid_t wanted) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&wanted);
  arguments.set_tid_size = 1;
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

pid_t start_paused(pid_t wanted) {
  const pid_t child = wanted ? fork_as(wanted) : ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "first-life");
    for (;;) ::pause();
  }
  return child;
}

std::int64_t forks_until_wrap() {
  std::int64_t forks = 0;
  for (pid_t last = 0;; ++forks) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    if (child < last) return forks;
    last = child;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 20), wrap = options.number("wrap", 0);
  const int long_us = options.number("long_us", 200'000);
  const int short_us = options.number("short_us", 2'000);
  const int linger_us = options.number("linger_us", 0);  // before the second life ends
  options.done();

  pid_t id = 0;
  const pid_t trial = start_paused(0);
  ::kill(trial, SIGKILL);
  ::waitpid(trial, nullptr, 0);
  const pid_t again = start_paused(trial);
  if (again < 0) std::exit(77);
  ::kill(again, SIGKILL);
  ::waitpid(again, nullptr, 0);
  id = again;

  static Waits first, second;
  const timespec nap{short_us / 1'000'000, short_us % 1'000'000 * 1000L};
  first_gate();
  const std::int64_t forks = wrap ? forks_until_wrap() : 0;
  for (int i = 0; i < count; ++i) {
    timed(first, [&] {
      const pid_t child = start_paused(id);
      if (child < 0) fail("clone3");
      ::poll(nullptr, 0, long_us / 1000);
      ::kill(child, SIGKILL);
      return ::waitpid(child, nullptr, 0);
    });
    timed(second, [&] {
      const pid_t child = fork_as(id);
      if (child < 0) fail("clone3");
      if (child == 0) {
        ::prctl(PR_SET_NAME, "second-life");
        ::nanosleep(&nap, nullptr);
        if (linger_us) ::poll(nullptr, 0, linger_us / 1000);
        ::_exit(0);
      }
      return ::waitpid(child, nullptr, 0);
    });
  }

  Report report;
  report.add("first", first);
  report.add("second", second);
  report.add("pid", id);
  report.add("forks", forks);
  report.second_gate();
}
