// SPDX-License-Identifier: Apache-2.0
// `threads` threads that wait for the end in read() of a pipe. Truth: their number. With `nap_ms`
// they nap from the first gate on instead, about that long each time, and the program never ends.
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "workload.h"

using namespace workload;

namespace {

int never[2];
std::int64_t nap_ns = 0;

void* wait_for_the_end(void* at) {
  char byte = 0;
  while (::read(never[0], &byte, 1) != 0) {
  }
  // Each its own time, so that they do not wake together for long.
  const auto own = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % 100);
  for (;;) sleep_ns(nap_ns * (950 + own) / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 10'000);
  nap_ns = options.number("nap_ms", 0) * 1'000'000LL;
  options.done();

  if (::pipe(never) != 0) fail("pipe");
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + 16 * 1024);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    errno = ::pthread_create(&thread, &small, wait_for_the_end,
                             reinterpret_cast<void*>(static_cast<std::uintptr_t>(i)));
    if (errno != 0) fail("pthread_create");
  }
  first_gate();
  if (nap_ns > 0) {
    ::close(never[1]);
    for (;;) ::pause();
  }
  Report report;
  report.add("threads_started", threads);
  report.second_gate();
}
