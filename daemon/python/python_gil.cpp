// SPDX-License-Identifier: Apache-2.0
#include "python/python_gil.h"

#include <cstddef>

namespace offcpud {
namespace {

// struct _gil_runtime_state (pycore_gil.h), the same in 3.8 to 3.14: interval, last_holder, locked,
// switch_number, and the condition on which threads wait for it, a pthread_cond_t.
constexpr std::size_t kHolder = 8, kLocked = 16, kSwitches = 24, kBytes = 32;
constexpr std::uint64_t kCondition = 32, kConditionEnd = 80;

// pyinterpreters.main, behind head (pycore_runtime.h, 3.8 to 3.14).
constexpr std::uint64_t kMain = 8;

// glibc's struct pthread has its thread's number there (nptl/descr.h; x86-64, unchanged since 2.17
// at least).
constexpr std::uint64_t kNumber = 0x2d0;
constexpr std::uint64_t kMostNumber = 1ULL << 22U;  // PID_MAX_LIMIT of linux/threads.h

std::optional<PythonGil> state_at(const MemoryWords& memory, std::uint64_t gil) {
  const MemoryParts part = memory.parts({&gil, 1}, kBytes);
  if (!part.has(0)) return std::nullopt;
  return PythonGil{.is_held = part.at<std::uint32_t>(0, kLocked) == 1,
                   .holder = part.at<std::uint64_t>(0, kHolder),
                   .switches = part.at<std::uint64_t>(0, kSwitches)};
}

// Of a thread state.
std::uint32_t tid_of(const MemoryWords& memory, const PythonLayout& layout, std::uint64_t state) {
  if (state == 0) return 0;
  std::uint64_t tid = 0;
  if (layout.has_native_id()) {
    tid = memory.read<std::uint64_t>(state + layout.native_id()).value_or(0);
  } else if (const auto self = memory.read<std::uint64_t>(state + layout.thread_id)) {
    tid = memory.read<std::uint32_t>(*self + kNumber).value_or(0);
  }
  return tid < kMostNumber ? static_cast<std::uint32_t>(tid) : 0;
}

}  // namespace

std::optional<std::uint64_t> find_python_gil(const MemoryWords& memory,
                                             const PythonRuntime& runtime) {
  const PythonLayout& layout = *runtime.layout;
  if (!layout.has_gil_pointer()) return runtime.address + layout.gil;
  const auto main = memory.read<std::uint64_t>(runtime.address + layout.interpreters + kMain);
  if (!main || *main == 0) return std::nullopt;
  const auto gil = memory.read<std::uint64_t>(*main + layout.gil);
  return gil && *gil != 0 ? gil : std::nullopt;
}

bool is_python_gil(std::uint64_t gil, std::uint64_t futex) {
  return gil != 0 && futex >= gil + kCondition && futex < gil + kConditionEnd;
}

// The thread state of a holder may be freed and used again while it is read, but then another
// thread has had the GIL.
std::optional<PythonGil> read_python_gil(const MemoryWords& memory, const PythonRuntime& runtime,
                                         std::uint64_t gil) {
  const auto before = state_at(memory, gil);
  if (!before || !before->is_held) return before;
  const std::uint32_t tid = tid_of(memory, *runtime.layout, before->holder);
  auto state = state_at(memory, gil);
  if (state && *state == *before) state->tid = tid;
  return state;
}

}  // namespace offcpud
