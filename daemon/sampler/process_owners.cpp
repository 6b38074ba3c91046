// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_owners.h"

namespace offcpud {

ShareOwner ProcessOwners::of(const offcpud_sample& sample) {
  if (sample.local_tgid == 0) return std::nullopt;  // not in the daemon's namespace
  const std::pair process(sample.local_tgid, sample.process_start_ns);
  if (const auto known = known_.find(process); known != known_.end()) return known->second;
  if (known_.size() >= kMost) known_.clear();
  return known_[process] = user_of_(sample.local_tgid);
}

}  // namespace offcpud
