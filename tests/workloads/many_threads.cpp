// SPDX-License-Identifier: Apache-2.0
// `threads` threads that wait for the end in read() of a pipe. Truth: their number.
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "workload.h"

using namespace workload;

namespace {

int never[2];

void* wait_for_the_end(void*) {
  char byte = 0;
  for (;;) (void)!::read(never[0], &byte, 1);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int threads = options.number("threads", 10'000);
  options.done();

  if (::pipe(never) != 0) fail("pipe");
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + 16 * 1024);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    errno = ::pthread_create(&thread, &small, wait_for_the_end, nullptr);
    if (errno != 0) fail("pthread_create");
  }
  first_gate();
  Report report;
  report.add("threads_started", threads);
  report.second_gate();
}
