// SPDX-License-Identifier: Apache-2.0
// `count` processes, some at a time, each of which executes this program anew, waits `us` in
// short_life() and ends. Truth: that function is on the stack of every such wait.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "workload.h"

using namespace workload;

extern "C" [[gnu::noinline]] void short_life(std::int64_t ns) {
  sleep_ns(ns);
  asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "live") == 0) {
    short_life(std::atoll(argv[2]));
    return 0;
  }
  Options options(argc, argv);
  const int count = options.number("count", 1'600), at_a_time = options.number("at-a-time", 8);
  const std::string ns = std::to_string(options.number("us", 3'000) * 1000LL);
  options.done();

  first_gate();
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (running == at_a_time) {
      ::wait(nullptr);
      --running;
    }
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      ::execl("/proc/self/exe", "short_life", "live", ns.c_str(), nullptr);
      ::_exit(127);
    }
    ++running;
  }
  for (; running > 0; --running) ::wait(nullptr);

  Report report;
  report.add("lives", count);
  report.second_gate();
}
