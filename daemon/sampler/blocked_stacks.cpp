// SPDX-License-Identifier: Apache-2.0
#include "sampler/blocked_stacks.h"

#include <sys/uio.h>

namespace offcpud {
namespace {

class ProcessMemory final : public StackMemory {
 public:
  explicit ProcessMemory(std::uint32_t tid) : tid_(static_cast<pid_t>(tid)) {}

  bool read(std::uint64_t address, void* to, std::size_t size) override {
    const iovec local{to, size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
    const iovec remote{reinterpret_cast<void*>(address), size};
    return ::process_vm_readv(tid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
  }

 private:
  pid_t tid_;
};

RemoteStack walk(const UnwindLookup* lookup, const offcpud_blocked_record& record) {
  if (lookup == nullptr) return {.addresses = {}, .end = OFFCPUD_UNWIND_END_READ};
  ProcessMemory memory(record.sample.tid);
  const UserRegisters registers{record.regs.ip, record.regs.sp, record.regs.bp, record.regs.di};
  return walk_remote_stack(record.sample.tgid, registers, *lookup, memory);
}

}  // namespace

const RemoteStack& BlockedStacks::stack_of(const offcpud_blocked_record& record) {
  const auto found = known_.find({record.sample.tid, record.sample.since_ns});
  if (found != known_.end()) {
    found->second.used = true;
    return found->second.stack;
  }
  last_ = walk(lookup_, record);
  // Without its root it may be better the next time: its process may have been new.
  if (known_.size() >= kMost || last_.end != OFFCPUD_UNWIND_END_ROOT) return last_;
  return known_.try_emplace({record.sample.tid, record.sample.since_ns}, Known{std::move(last_)})
      .first->second.stack;
}

void BlockedStacks::end_walk() {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto next = std::next(known);
    if (!std::exchange(known->second.used, false)) known_.erase(known);
    known = next;
  }
}

}  // namespace offcpud
