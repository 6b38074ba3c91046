// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_classes.h"

namespace offcpud {

void SiteClasses::number(const Snapshot& snapshot, std::span<const std::uint32_t> frames,
                         std::vector<FrameKind>& kinds) {
  kinds.clear();
  known_.resize(snapshot.frames.size());
  for (const std::uint32_t id : frames) {
    FrameKind& known = known_[id];
    if (known == 0) {
      const StackFrame& frame = snapshot.frames[id];
      known = 1 + (frame.kernel ? classifier_.kernel_frame(frame.function)
                                : classifier_.user_frame({frame.function, frame.object}));
    }
    kinds.push_back(known - 1);
  }
}

// The executable is known by the name of its process only, which is what `explain-stack` finds in
// an answer in JSON, too.
void SiteClasses::classify(const Snapshot& snapshot, StackEntry& entry) {
  number(snapshot, entry.user, user_);
  number(snapshot, entry.kernel, kernel_);
  const WaitClass found = classifier_.classify({.exe = classifier_.executable(entry.comm),
                                                .reason = entry.reason,
                                                .user = user_,
                                                .kernel = kernel_});
  entry.wait_for = found.wait_for;
  entry.site = found.site;
}

}  // namespace offcpud
