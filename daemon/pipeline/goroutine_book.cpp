// SPDX-License-Identifier: Apache-2.0
#include "pipeline/goroutine_book.h"

#include <utility>

namespace offcpud {
namespace {

std::size_t bytes_of(const GoroutineWindow& window) {
  std::size_t bytes = sizeof window;
  for (const GoroutineWaits& waits : window.waits) {
    bytes += sizeof waits + waits.cgroup.size() + waits.program.size() + waits.site.size() +
             waits.reason.size() + waits.function.size();
  }
  return bytes;
}

}  // namespace

void GoroutineBook::add(std::shared_ptr<const GoroutineWindow> window,
                        const std::function<std::string(const std::string& cgroup)>& home) {
  for (const GoroutineWaits& waits : window->waits) {
    const std::string path = home(waits.cgroup);
    if (!cgroups_.contains(path) && cgroups_.size() >= kMostCgroups) continue;
    cgroups_[path][static_cast<std::size_t>(waits.wait_for)] += waits.ns;
  }
  const std::size_t bytes = bytes_of(*window);
  bytes_ += bytes;
  const MonotonicTime oldest = window->end - kAge;
  kept_.push_back({std::move(window), bytes});
  while (kept_.size() > 1 && (bytes_ > kMostBytes || kept_.front().window->end < oldest)) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void GoroutineBook::fold(std::string_view cgroup, std::string_view into) {
  const auto found = cgroups_.find(cgroup);
  if (found == cgroups_.end() || cgroup == into) return;
  const Times folded = found->second;
  cgroups_.erase(found);
  Times& sums = cgroups_[std::string(into)];
  for (std::size_t i = 0; i < folded.size(); ++i) sums[i] += folded[i];
}

std::shared_ptr<const GoroutineTimes> GoroutineBook::of(std::string_view cgroup) const {
  const auto found = cgroups_.find(cgroup);
  if (found == cgroups_.end()) return nullptr;
  auto times = std::make_shared<GoroutineTimes>();
  for (std::size_t i = 0; i < times->size(); ++i) {
    (*times)[i] = static_cast<std::uint64_t>(found->second[i]);
  }
  return times;
}

std::vector<std::shared_ptr<const GoroutineWindow>> GoroutineBook::windows() const {
  std::vector<std::shared_ptr<const GoroutineWindow>> windows;
  windows.reserve(kept_.size());
  for (const Kept& kept : kept_) windows.push_back(kept.window);
  return windows;
}

}  // namespace offcpud
