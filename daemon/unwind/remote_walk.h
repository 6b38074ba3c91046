// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "unwind.h"

namespace offcpud {

// The start of a walk: the registers of a thread in user space.
struct UserRegisters {
  std::uint64_t ip = 0, sp = 0, bp = 0, di = 0;
};

// The memory of the process whose stack is walked.
class StackMemory {
 public:
  virtual ~StackMemory() = default;
  // False: not all of it can be read.
  virtual bool read(std::uint64_t address, void* to, std::size_t size) = 0;
};

// Tells what is mapped at an address, and how to step to the caller from there.
class UnwindLookup {
 public:
  struct Place {
    std::uint64_t begin = 0, end = 0;  // of the mapping
    std::uint64_t bias = 0;            // address in memory - address in the ELF file
    std::uint32_t object = OFFCPUD_UNWIND_NO_OBJECT;
  };
  virtual ~UnwindLookup() = default;
  [[nodiscard]] virtual std::optional<Place> place(std::uint32_t tgid,
                                                   std::uint64_t address) const = 0;
  // The rule for an address in the ELF file; of kind NO_FDE: nothing is known about it.
  [[nodiscard]] virtual offcpud_unwind_rule rule(std::uint32_t object,
                                                 std::uint64_t address) const = 0;
};

struct RemoteStack {
  std::vector<std::uint64_t> addresses;  // as in struct offcpud_unwind_stack
  // The stack pointer of each frame. A frame's part of the stack reaches up to its caller's stack
  // pointer.
  std::vector<std::uint64_t> stack_pointers{};
  offcpud_unwind_end end = OFFCPUD_UNWIND_END_DEPTH;
};

// Walks the stack of a thread that is not running, by the same steps as bpf/unwind.bpf.h, which can
// only walk the current thread. If the thread runs meanwhile, the stack ends early or is wrong.
RemoteStack walk_remote_stack(std::uint32_t tgid, const UserRegisters& registers,
                              const UnwindLookup& lookup, StackMemory& memory);

}  // namespace offcpud
