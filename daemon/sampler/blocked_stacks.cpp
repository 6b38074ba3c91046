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
  ProcessMemory memory(record.sample.local_tid);
  const UserRegisters registers{record.regs.ip, record.regs.sp, record.regs.bp, record.regs.di};
  return walk_remote_stack(record.sample.local_tgid, registers, *lookup, memory);
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
  const std::size_t bytes = bytes_of(last_);
  if (bytes_ + bytes > kMostBytes || last_.end != OFFCPUD_UNWIND_END_ROOT) return last_;
  bytes_ += bytes;
  last_.addresses.shrink_to_fit();
  return known_.try_emplace({record.sample.tid, record.sample.since_ns}, Known{std::move(last_)})
      .first->second.stack;
}

std::size_t BlockedStacks::bytes_of(const RemoteStack& stack) {
  constexpr std::size_t kNode = 48 + sizeof(decltype(known_)::value_type);  // of a std::map
  return kNode + stack.addresses.size() * sizeof(stack.addresses[0]);
}

void BlockedStacks::end_walk() {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto next = std::next(known);
    if (!std::exchange(known->second.used, false)) {
      bytes_ -= bytes_of(known->second.stack);
      known_.erase(known);
    }
    known = next;
  }
}

}  // namespace offcpud
