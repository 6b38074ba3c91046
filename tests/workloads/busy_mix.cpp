// SPDX-License-Identifier: Apache-2.0
// Threads that sleep, contend for a lock, pass bytes and spin for `ms`. Truth: whatever each does,
// it runs, waits for a CPU or is blocked, so the three add up to threads x wall clock.
#include <unistd.h>

#include <mutex>

#include "workload.h"

using namespace workload;

namespace {

int there[2], back[2];
std::mutex mutex;

void one_step(int role) {
  char byte = 0;
  switch (role) {
    case 0:
    case 1:
      sleep_ns(role == 0 ? 1'000'000 : 7'000'000);
      break;
    case 2:
    case 3: {
      const std::lock_guard lock(mutex);
      burn(50'000);
      sleep_ns(100'000);
      break;
    }
    case 4:
      (void)!::write(there[1], "", 1);
      (void)!::read(back[0], &byte, 1);
      break;
    default:
      burn(1'000'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int ms = options.number("ms", 10'000);
  options.done();
  if (::pipe(there) != 0 || ::pipe(back) != 0) fail("pipe");

  constexpr int kRoles = 8;
  static std::int64_t began[kRoles], ended[kRoles];
  Crew crew(Crew::Of::Threads, kRoles, [&](int role) {
    began[role] = now_ns();
    const std::int64_t end = began[role] + ms * 1'000'000LL;
    if (role == 5) {  // the other side of role 4, until that one says it is done
      char byte = 0;
      do {
        (void)!::read(there[0], &byte, 1);
        (void)!::write(back[1], "", 1);
      } while (byte == 0);
    } else {
      while (now_ns() < end) one_step(role);
      if (role == 4) (void)!::write(there[1], "x", 1);
    }
    ended[role] = now_ns();
  });
  first_gate();
  crew.go();
  crew.finished();

  Report report;
  std::int64_t sum = 0;
  for (int i = 0; i < kRoles; ++i) sum += ended[i] - began[i];
  report.add("threads_wall_ns", sum);
  report.second_gate();
}
