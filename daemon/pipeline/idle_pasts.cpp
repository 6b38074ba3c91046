// SPDX-License-Identifier: Apache-2.0
#include "pipeline/idle_pasts.h"

namespace offcpud {

void IdlePasts::note(std::uint32_t tgid, std::uint32_t kind, bool idle, std::uint64_t now_ns) {
  const auto found = processes_.find(tgid);
  if (found == processes_.end() && (!idle || processes_.size() >= kMaxProcesses)) return;
  Past& past = found == processes_.end() ? processes_[tgid] : found->second;
  past.noted_ns = now_ns;
  if (idle) {
    past.idle_kinds |= 1U << kind;
  } else {
    past.idle_kinds &= ~(1U << kind);
  }
}

bool IdlePasts::was_idle(std::uint32_t tgid, std::uint32_t kind, std::uint64_t now_ns) const {
  const auto found = processes_.find(tgid);
  if (found == processes_.end() || now_ns - found->second.noted_ns > kForgottenAfter) return false;
  return (found->second.idle_kinds >> kind & 1U) != 0;
}

void IdlePasts::forget_old(std::uint64_t now_ns) {
  std::erase_if(processes_, [now_ns](const auto& process) {
    return now_ns - process.second.noted_ns > kForgottenAfter;
  });
}

}  // namespace offcpud
