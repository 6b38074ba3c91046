// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_frames.h"

#include <vector>

#include "stacks/kernel_frame.h"

namespace offcpud {

Status KernelFrames::name(const std::unordered_set<std::uint64_t>& addresses, MonotonicTime now,
                          Names& names) {
  if (now - forgotten_ >= kKeptFor || known_.size() >= kMost) {
    known_.clear();
    forgotten_ = now;
  }
  std::vector<std::uint64_t> unknown;
  for (const std::uint64_t address : addresses) {
    const auto known = known_.find(address);
    if (known == known_.end()) {
      unknown.push_back(address);
    } else {
      names.insert(*known);
    }
  }
  if (unknown.empty()) return {};
  TRY(const auto texts, kernel_.kernel_names(unknown));
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    names.insert(*known_.insert_or_assign(unknown[i], kernel_frame(texts[i])).first);
  }
  return {};
}

}  // namespace offcpud
