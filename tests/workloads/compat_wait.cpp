// SPDX-License-Identifier: Apache-2.0
// The system calls of a 32-bit program, made through its own entry (int 0x80) from a 64-bit one: no
// 32-bit compiler or library is needed. Each waits `us`, `count` times: `kind` = nanosleep, poll,
// futex_wait or pipe_read. Ends with status 77 where the kernel has no 32-bit entry.
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "workload.h"

using namespace workload;

namespace {

// arch/x86/entry/syscalls/syscall_32.tbl
enum Call : int { kRead = 3, kGetpid = 20, kNanosleep = 162, kPoll = 168, kFutex = 240 };

int call32(int number, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d = 0) {
  int result = number;
  register std::uint64_t si asm("rsi") = d;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a), "c"(b), "d"(c), "r"(si)
               : "memory", "r8", "r9", "r10", "r11");
  return result;
}

struct Timespec32 {
  std::int32_t seconds, nanoseconds;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 20), us = options.number("us", 5'000);
  const std::string kind = options.text("kind", "nanosleep");
  options.done();

  ::signal(SIGSEGV, [](int) { ::_exit(77); });  // what int 0x80 gives without CONFIG_IA32_EMULATION
  if (call32(kGetpid, 0, 0, 0) != ::getpid()) std::exit(77);
  void* low =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) fail("mmap");
  const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(low));
  auto* time = static_cast<Timespec32*>(low);
  const std::uint32_t word = address + 64;
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  int ends[2];
  if (::pipe(ends) != 0) fail("pipe");

  static Waits waits;
  first_gate();
  for (int i = 0; i < count; ++i) {
    *time = {us / 1'000'000, us % 1'000'000 * 1000};
    timed(waits, [&] {
      if (kind == "nanosleep") return call32(kNanosleep, address, 0, 0);
      if (kind == "poll") return call32(kPoll, 0, 0, static_cast<std::uint32_t>(us / 1000));
      if (kind == "futex_wait") return call32(kFutex, word, 0, 0, address);
      const itimerval timer{{0, 0}, {0, us}};
      ::setitimer(ITIMER_REAL, &timer, nullptr);
      return call32(kRead, static_cast<std::uint32_t>(ends[0]), word, 1);
    });
  }

  Report report;
  report.add("wait", waits);
  report.second_gate();
}
