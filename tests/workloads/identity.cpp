// SPDX-License-Identifier: Apache-2.0
// A process that stays one whatever happens to its name: sleeps `count` times `us`, changes in a
// way chosen by `kind`, and sleeps as often again. exec (another image, by this program's own
// file), rename (its comm) or leader_exit (its first thread ends, another goes on). Truth: 2 x
// count sleeps of one process id.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "workload.h"

using namespace workload;

namespace {

int count = 0, us = 0;

void sleep_all() {
  for (int i = 0; i < count; ++i) sleep_ns(us * 1000LL);
}

// Between the halves it waits at a gate, so that the tester sees it under either name.
void pause_for_tester() {
  char byte = 0;
  (void)!::write(STDOUT_FILENO, "changed\n", 8);
  (void)!::read(STDIN_FILENO, &byte, 1);
}

[[noreturn]] void second_half() {
  pause_for_tester();
  sleep_all();
  Report report;
  report.add("pid", ::getpid());
  report.second_gate();
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string kind = options.text("kind", "rename");
  count = options.number("count", 50);
  us = options.number("us", 5'000);
  options.done();
  if (kind == "after_exec") {
    ::prctl(PR_SET_NAME, "after-change");
    second_half();
  }

  ::prctl(PR_SET_NAME, "before-change");
  first_gate();
  sleep_all();
  if (kind == "exec") {
    ::execl("/proc/self/exe", "identity", "--kind", "after_exec", "--count",
            std::to_string(count).c_str(), "--us", std::to_string(us).c_str(), nullptr);
    fail("exec");
  }
  ::prctl(PR_SET_NAME, "after-change");
  if (kind == "rename") second_half();
  std::thread([] { second_half(); }).detach();
  ::pthread_exit(nullptr);
}
