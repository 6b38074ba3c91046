// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_owners.h"

namespace offcpud {

ShareOwner ProcessOwners::of(std::uint32_t local_tgid, std::uint64_t process_start_ns,
                             std::size_t keep) {
  if (local_tgid == 0) return std::nullopt;  // not in the daemon's namespace
  const std::pair process(local_tgid, process_start_ns);
  if (const auto known = known_.find(process); known != known_.end()) return known->second;
  auto earlier = earlier_.extract(process);
  if (earlier.empty() && questions_ <= keep) return std::nullopt;
  if (known_.size() >= kMost / 2) earlier_ = std::exchange(known_, {});
  if (!earlier.empty()) return known_.insert(std::move(earlier)).position->second;
  --questions_;
  return known_[process] = user_of_(local_tgid);
}

}  // namespace offcpud
