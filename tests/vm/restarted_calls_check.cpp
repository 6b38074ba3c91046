// SPDX-License-Identifier: Apache-2.0
// Calls that a stop interrupts and restart_syscall goes on with: both parts have the call's reason.
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "checks.h"
#include "child_process.h"
#include "reading.h"
#include "report.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;
using ull = unsigned long long;

constexpr auto kWait = 900ms, kUntilStop = 200ms;

void sleep_it() {
  sleep_for(kWait);
}

void poll_it() {
  ::poll(nullptr, 0, static_cast<int>(kWait.count()));
}

void wait_for_futex() {
  std::uint32_t word = 0;
  const timespec timeout{0, std::chrono::nanoseconds(kWait).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout);
}

void stop_and_continue(pid_t child) {
  int status = 0;
  must(::kill(child, SIGSTOP) == 0, "stop a child");
  must(::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "wait for its stop");
  must(::kill(child, SIGCONT) == 0, "continue a child");
}

}  // namespace

void check_restarted_calls(BpfReadingSource& source, const Cgroup& cgroup) {
  std::array<pid_t, 3> children{};
  for (std::size_t i = 0; i < children.size(); ++i) {
    static constexpr std::array kWays = {sleep_it, poll_it, wait_for_futex};
    children.at(i) = fork_to([&] {
      cgroup.add(::getpid());
      kWays.at(i)();
      ::_exit(0);
    });
  }
  sleep_for(kUntilStop);
  for (const pid_t child : children) stop_and_continue(child);
  for (const pid_t child : children) reap(child);

  const Counts seen = counts_of(sample(source), cgroup.id);
  const std::uint64_t sleep = seen.episodes[OFFCPUD_BLOCKED_SLEEP];
  const std::uint64_t poll = seen.episodes[OFFCPUD_BLOCKED_POLL];
  const std::uint64_t lock = seen.episodes[OFFCPUD_BLOCKED_LOCK];
  const std::uint64_t other = seen.episodes[OFFCPUD_BLOCKED_OTHER];
  check(sleep == 2 && poll == 2 && lock == 2 && other == 0, "restarted",
        text("episodes: sleep %llu, poll %llu, lock %llu of 2 each, other %llu", ull{sleep},
             ull{poll}, ull{lock}, ull{other}));
}

}  // namespace offcpud::test
