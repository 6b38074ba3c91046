// SPDX-License-Identifier: Apache-2.0
// `threads` threads spin on one CPU for `ms` milliseconds of wall clock, or call into the kernel
// all the while: `in` = user, yield (sched_yield), random (getrandom of a megabyte), zero (read of
// a megabyte of /dev/zero). `name` is what the threads are called. Truth: what is not run is waited
// for; schedstat's run_delay is exact for it.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 2), ms = options.number("ms", 1'000);
  const int cpu = options.number("cpu", 0);
  const std::string in = options.text("in", "user"), name = options.text("name", "spinner");
  options.done();

  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zero < 0) fail("/dev/zero");
  static std::atomic<std::int64_t> calls{0};
  // Here, because threads that all ask for memory wait for one another.
  static std::vector<unsigned char> buffer(1 << 20);
  Crew spinners(
      Crew::Of::Threads, threads,
      [&](int member) {
        const std::int64_t end = now_ns() + ms * 1'000'000LL;
        while (now_ns() < end) {
          if (in == "yield") ::sched_yield();
          if (in == "random" && member == 0) (void)!::getrandom(buffer.data(), buffer.size(), 0);
          if (in == "zero" && member == 0) (void)!::read(zero, buffer.data(), buffer.size());
          ++calls;
        }
      },
      [&](int) {
        ::prctl(PR_SET_NAME, name.c_str());
        pin(cpu);
      });
  first_gate();
  spinners.go();
  spinners.finished();

  Report report;
  report.add("calls", calls.load());
  report.second_gate();
}
