// SPDX-License-Identifier: Apache-2.0
// `count` children, one after the other, that end while threads of theirs are blocked, or before
// they ever block: `way` = kill (all `threads` pause, SIGKILL after `us`), exit_group (the first
// thread ends the process after `us`, the others pause) or at_once (no further thread, no wait).
// Truth: the kernel's count of the children's voluntary switches, and the clock of each child's
// life.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "workload.h"

using namespace workload;

namespace {

void pause_in_threads(int threads) {
  for (int i = 0; i < threads; ++i) {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
  }
}

[[noreturn]] void live(const std::string& way, int threads, int us) {
  if (way == "at_once") ::_exit(0);
  if (way == "kill") {
    pause_in_threads(threads - 1);
    for (;;) ::pause();
  }
  pause_in_threads(threads - 1);
  sleep_ns(us * 1000LL);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string way = options.text("way", "kill");
  const int count = options.number("count", 20), threads = options.number("threads", 4);
  const int us = options.number("us", 50'000);
  options.done();

  static Waits lives;
  first_gate();
  for (int i = 0; i < count; ++i) {
    timed(lives, [&] {
      const pid_t child = ::fork();
      if (child < 0) fail("fork");
      if (child == 0) live(way, threads, us);
      if (way == "kill") {
        sleep_ns(us * 1000LL);
        ::kill(child, SIGKILL);
      }
      return ::waitpid(child, nullptr, 0);
    });
  }

  Report report;
  report.add("life", lives);
  report.second_gate();
}
