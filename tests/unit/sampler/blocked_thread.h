// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execinfo.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/unique_handle.h"
#include "sample.h"
#include "unwind/remote_walk.h"

namespace offcpud::test {

// A thread that waits in read() below wait_outer() and wait_inner(), with the registers that it has
// there and its stack as glibc walks it. Let go and joined by the destructor.
class BlockedThread {
 public:
  BlockedThread() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    thread_ = std::thread([this] { wait_outer(); });
    ready_.acquire();
    // `ip` is written last. Whether the thread is in the system call already does not matter: its
    // stack does not change any more.
    while (std::atomic_ref(registers_.ip).load(std::memory_order_acquire) == 0) {
      std::this_thread::yield();
    }
  }
  ~BlockedThread() {
    write_end_.reset();
    if (thread_.joinable()) thread_.join();
  }
  BlockedThread(const BlockedThread&) = delete;
  BlockedThread& operator=(const BlockedThread&) = delete;

  // Its block as the walk over blocked threads finds it.
  [[nodiscard]] offcpud_blocked_record record(std::uint64_t since_ns = 1) const {
    offcpud_blocked_record record{};
    record.sample.tid = record.sample.local_tid = static_cast<__u32>(tid_);
    record.sample.tgid = record.sample.local_tgid = static_cast<__u32>(::getpid());
    record.sample.since_ns = since_ns;
    record.regs = {registers_.ip, registers_.sp, registers_.bp, registers_.di};
    return record;
  }
  // Return addresses, innermost first; those of wait_inner() and the functions that called it.
  [[nodiscard]] const std::vector<std::uint64_t>& callers() const { return callers_; }

 private:
  [[gnu::noinline]] void wait_outer() {
    wait_inner();
    done_ = true;  // so that the call above is not the last thing, and its frame stays
  }

  [[gnu::noinline]] void wait_inner() {
    void* frames[64];
    const int count = ::backtrace(frames, 64);
    // From its own caller on; a sanitizer's backtrace() may be a frame as well.
    int i = 0;
    while (i < count && frames[i] != __builtin_return_address(0)) ++i;
    for (; i < count; ++i) callers_.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
    tid_ = ::gettid();
    ready_.release();
    wait();
  }

  // Inlined: the system call is in wait_inner() itself, whose registers these are.
  [[gnu::always_inline]] void wait() {
    char byte = 0;
    long result = SYS_read;
    asm volatile(
        "mov %%rsp, 8(%[at])\n\t"
        "mov %%rbp, 16(%[at])\n\t"
        "mov %%rdi, 24(%[at])\n\t"
        "lea 1f(%%rip), %%rcx\n\t"
        "mov %%rcx, 0(%[at])\n\t"
        "syscall\n"
        "1:"
        : "+a"(result)
        : [at] "r"(&registers_), "D"(read_end_.get()), "S"(&byte), "d"(1)
        : "rcx", "r11", "memory");
  }

  static_assert(offsetof(UserRegisters, ip) == 0 && offsetof(UserRegisters, sp) == 8 &&
                offsetof(UserRegisters, bp) == 16 && offsetof(UserRegisters, di) == 24);

  UniqueFd read_end_, write_end_;
  UserRegisters registers_;
  std::vector<std::uint64_t> callers_;
  pid_t tid_ = 0;
  bool done_ = false;
  std::binary_semaphore ready_{0};  // all but the registers is written
  std::thread thread_;
};

}  // namespace offcpud::test
