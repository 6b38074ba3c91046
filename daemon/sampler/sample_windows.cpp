// SPDX-License-Identifier: Apache-2.0
#include "sampler/sample_windows.h"

#include <algorithm>
#include <iterator>

namespace offcpud {

SampleWindow& SampleWindows::open_snapshot(const Moment& at, std::chrono::nanoseconds length,
                                           std::size_t stacks,
                                           std::shared_ptr<const CaptureRules> rules) {
  SampleWindow& window =
      windows_.emplace_front(StackSums(stacks, room_), CgroupPaths(cgroups_), at, length);
  window.filter = rules->blocks;
  window.capture = std::move(rules);
  return window;
}

SampleWindow& SampleWindows::open_profile(const Moment& at, std::chrono::nanoseconds length,
                                          std::size_t stacks) {
  return windows_.emplace_back(StackSums(stacks, room_), CgroupPaths(cgroups_), at, length);
}

bool SampleWindows::any_due(MonotonicTime at) const {
  return std::ranges::any_of(windows_,
                             [&](const SampleWindow& window) { return window.due <= at; });
}

void SampleWindows::end_due(MonotonicTime at) {
  for (SampleWindow& window : windows_) window.ends = window.due <= at;
}

void SampleWindows::end_all() {
  for (SampleWindow& window : windows_) window.ends = true;
}

std::list<SampleWindow> SampleWindows::take_ended() {
  std::list<SampleWindow> ended, snapshot;
  for (auto window = windows_.begin(); window != windows_.end();) {
    const auto next = std::next(window);
    std::list<SampleWindow>& to = window->is_snapshot() ? snapshot : ended;
    if (window->ends) to.splice(to.end(), windows_, window);
    window = next;
  }
  ended.splice(ended.end(), snapshot);
  return ended;
}

}  // namespace offcpud
