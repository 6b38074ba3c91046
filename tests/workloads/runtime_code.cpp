// SPDX-License-Identifier: Apache-2.0
// Runs code that is in no file and sleeps in it, 20 ms at a time, for ever: as a runtime with a JIT
// compiler does. Says "pid address" first, so that a perf map can name the code.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "workload.h"

int main() {
#if defined(__x86_64__)
  // push rbp; mov rbp,rsp; mov eax,SYS_nanosleep (35); xor esi,esi; syscall; pop rbp; ret
  static constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x23, 0x00, 0x00,
                                            0x00, 0x31, 0xf6, 0x0f, 0x05, 0x5d, 0xc3};
#else
#error "one case per architecture"
#endif
  void* const code =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) workload::fail("mmap");
  std::memcpy(code, kCode, sizeof(kCode));
  (void)std::printf("%d %lx\n", ::getpid(), reinterpret_cast<unsigned long>(code));
  (void)std::fflush(stdout);
  const timespec pause{0, 20'000'000};
  for (;;) reinterpret_cast<long (*)(const timespec*)>(code)(&pause);
}
