// SPDX-License-Identifier: Apache-2.0
// usage: file_stack FILE. Maps 1 MiB of FILE, says "mapped", reads a line from standard input, and
// then sleeps with a stack pointer that lies in the middle of the mapping, where nothing was read.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "workload.h"

int main(int argc, char** argv) {
  const int file = argc == 2 ? ::open(argv[1], O_RDONLY) : -1;
  if (file < 0) workload::fail("open");
  constexpr std::size_t kSize = std::size_t{1} << 20;
  void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) workload::fail("mmap");
  (void)std::puts("mapped");
  (void)std::fflush(stdout);
  (void)std::getchar();
  char* const stack = static_cast<char*>(memory) + kSize / 2;
#if defined(__x86_64__)
  // pause(), and nothing that would use the stack.
  asm volatile(
      "mov %0, %%rsp\n\t"
      "mov %0, %%rbp\n"
      "1: mov %1, %%eax\n\t"
      "syscall\n\t"
      "jmp 1b"
      :
      : "r"(stack), "i"(SYS_pause)
      : "rax", "rcx", "r11", "memory");
#else
#error "one case per architecture"
#endif
}
