// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sites/wait_classifier.h"
#include "stacks/sampled_snapshot.h"

namespace offcpud {

// Classifies the entries of one snapshot by the rules that the classifier uses. Each frame of the
// snapshot is looked up once. Valid during one job of the thread that owns the classifier.
class SiteClasses final : public WaitClasses {
 public:
  explicit SiteClasses(WaitClassifier& classifier) : classifier_(classifier) {}

  void classify(const Snapshot& snapshot, StackEntry& entry) override;

 private:
  void number(const Snapshot& snapshot, std::span<const std::uint32_t> frames,
              std::vector<FrameKind>& kinds);

  WaitClassifier& classifier_;
  std::vector<FrameKind> known_;          // by frame of the snapshot: kind + 1; 0: not needed yet
  std::vector<FrameKind> user_, kernel_;  // of the entry in hand; kept for their room
};

}  // namespace offcpud
