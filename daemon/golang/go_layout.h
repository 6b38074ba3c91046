// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace offcpud {

// Where some minor versions of Go keep what is read of a goroutine (struct g in
// src/runtime/runtime2.go): offsets in bytes, on x86-64. They are part of no interface; a new
// version needs a new row.
struct GoLayout {
  std::uint32_t first = 0, last = 0;  // minor versions: 19 is Go 1.19
  // Where a goroutine that does not run goes on: sched.sp, sched.pc.
  std::uint32_t stack_pointer = 0, instruction = 0;
  std::uint32_t status = 0;  // atomicstatus, 4 bytes
  std::uint32_t id = 0;      // goid
  // waitsince: 0, or the time of the garbage collection before the one that first saw the wait. The
  // goroutine may have run after that time, but not after the next collection.
  std::uint32_t wait_since = 0;
  std::uint32_t wait_reason = 0;  // 1 byte
};

// The size of an address, an int and a uint.
inline constexpr std::uint64_t kGoWord = 8;

// The same in all versions: the lowest and the highest address of a goroutine's stack.
inline constexpr std::uint32_t kGoStackLow = 0, kGoStackHigh = 8;
// How many bytes of a struct g contain all these fields.
inline constexpr std::size_t kGoroutineBytes = 216;

// What a goroutine does (src/runtime/runtime2.go, _Gidle and so on), whether or not a collection of
// garbage looks at its stack.
enum class GoStatus : std::uint32_t {
  Runnable = 1,
  Running = 2,
  InCall = 3,
  Waiting = 4,
  Dead = 6
};
inline constexpr std::uint32_t kLastGoStatus = 9;
inline GoStatus go_status(std::uint32_t word) {
  constexpr std::uint32_t kScanned = 0x1000;
  return static_cast<GoStatus>(word & ~kScanned);
}

// Null: the version is not known.
const GoLayout* find_go_layout(std::uint32_t minor);

}  // namespace offcpud
