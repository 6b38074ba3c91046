// SPDX-License-Identifier: Apache-2.0
// stack_zoo KIND: a second thread waits again and again, 20 ms each, in one kind of call. Prints
// "TID ADDRESS..." first: the return addresses above the call that waits, as the C++ runtime's own
// unwinder sees them. Compiled with -O2 and without frame pointers. Ends when its standard input
// does.
#include "stack_zoo.h"

#include <unistd.h>
#include <unwind.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

struct Trace {
  unsigned long addresses[256];
  int count = 0;
};

_Unwind_Reason_Code add(_Unwind_Context* context, void* to) {
  auto& trace = *static_cast<Trace*>(to);
  if (trace.count == 256) return _URC_END_OF_STACK;
  trace.addresses[trace.count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

// The same place for the traces and for the waits: what is above is the same.
[[gnu::noinline]] void wait_forever(const stack_zoo::Kind& kind) {
  Trace trace;
  _Unwind_Backtrace(add, &trace);
  std::printf("%d", ::gettid());
  for (int i = 1; i < trace.count && trace.addresses[i] != 0; ++i) {  // 0 is in this function
    std::printf(" %lx", trace.addresses[i]);
  }
  std::printf("\n");
  std::fflush(stdout);
  for (;;) kind.wait(20'000'000);
}

}  // namespace

int main(int argc, char** argv) {
  struct sigaction ignore = {};
  ignore.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &ignore, nullptr);  // interrupts calls
  const char* name = argc > 1 ? argv[1] : "";
  for (int i = 0; i < stack_zoo::kKindCount; ++i) {
    if (std::strcmp(stack_zoo::kKinds[i].name, name) != 0) continue;
    std::thread([i] { wait_forever(stack_zoo::kKinds[i]); }).detach();
    char byte = 0;
    (void)!::read(STDIN_FILENO, &byte, 1);
    std::_Exit(0);
  }
  for (int i = 0; i < stack_zoo::kKindCount; ++i) std::printf("%s\n", stack_zoo::kKinds[i].name);
  return argc > 1 ? 64 : 0;
}
