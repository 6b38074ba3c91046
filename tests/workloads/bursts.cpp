// SPDX-License-Identifier: Apache-2.0
// Runs for `us` microseconds, sleeps for `sleep_us`, and again, for `ms` milliseconds of wall
// clock. `name` is what it is called. Truth: it takes its CPU from others in short turns.
#include <sys/prctl.h>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int us = options.number("us", 100), sleep_us = options.number("sleep_us", 3'000);
  const int ms = options.number("ms", 1'000);
  const std::string name = options.text("name", "bursts");
  pin(options.number("cpu", -1));
  options.done();
  ::prctl(PR_SET_NAME, name.c_str());

  std::int64_t bursts = 0;
  first_gate();
  const std::int64_t end = now_ns() + ms * 1'000'000LL;
  while (now_ns() < end) {
    burn(us * 1'000LL);
    sleep_ns(sleep_us * 1'000LL);
    ++bursts;
  }

  Report report;
  report.add("bursts", bursts);
  report.second_gate();
}
