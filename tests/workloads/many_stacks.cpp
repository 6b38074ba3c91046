// SPDX-License-Identifier: Apache-2.0
// `count` sleeps of `us`, each on a stack of its own: the bits of its number decide by which of two
// functions every step goes down. Truth: so many stacks, and the program's own clock.
#include "workload.h"

using namespace workload;

namespace {

constexpr int kBits = 14;

Waits waits[64];
int us = 2'000;

}  // namespace

extern "C" {
void step_zero(int number, int bits, Waits& mine);
void step_one(int number, int bits, Waits& mine);

static inline void next_step(int number, int bits, Waits& mine) {
  if (bits == 0) {
    timed(mine, [] { return sleep_ns(us * 1000LL), 0; });
  } else if (number & 1) {
    step_one(number >> 1, bits - 1, mine);
  } else {
    step_zero(number >> 1, bits - 1, mine);
  }
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void step_zero(int number, int bits, Waits& mine) {
  next_step(number, bits, mine);
}
[[gnu::noinline]] void step_one(int number, int bits, Waits& mine) {
  next_step(number, bits, mine);
}
}

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 10'000);
  us = options.number("us", us);
  options.done();
  if (count > 1 << kBits) fail("more stacks than bits");

  constexpr int kThreads = 16;
  Crew crew(Crew::Of::Threads, kThreads, [&](int member) {
    for (int number = member; number < count; number += kThreads) {
      step_zero(number, kBits, waits[member]);
    }
  });
  first_gate();
  crew.go();
  crew.finished();

  Report report;
  static Waits all;
  for (const Waits& mine : waits) {
    all.count += mine.count;
    all.sum_ns += mine.sum_ns;
  }
  report.add("sleep", all);
  report.second_gate();
}
