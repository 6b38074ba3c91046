// SPDX-License-Identifier: Apache-2.0
#include "sampler/wait_examiner.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/text.h"
#include "sampler/site_sums.h"
#include "stacks/kernel_stack.h"

namespace offcpud {
namespace {

// The part of all time that may be lost before silence means nothing. PlacePasts::kSurelySilent
// allows for it.
constexpr double kDeaf = 0.5;

// The frames of one block by name, innermost first.
struct NamedStack {
  std::vector<StackFrame> user, kernel;
};

NamedStack name_stack(const WaitSum& sum, const WaitInterval& interval, FunctionNames& names) {
  NamedStack stack;
  for (const LocatedFrame& frame : sum.user) {
    stack.user.push_back(names.name(sum.sample, frame, false));
  }
  std::vector<StackFrame> kernel;
  for (const std::uint64_t address : sum.kernel()) {
    const auto found = interval.kernel_names.find(address);
    if (found != interval.kernel_names.end()) kernel.push_back(found->second);
  }
  const auto kept = without_switch(kernel);
  stack.kernel.assign(kept.begin(), kept.end());
  return stack;
}

std::vector<SiteFrame> outermost_first(std::span<const StackFrame> frames) {
  std::vector<SiteFrame> turned;
  turned.reserve(frames.size());
  for (const StackFrame& frame : frames) turned.push_back({frame.function, frame.object});
  std::ranges::reverse(turned);
  return turned;
}

// "pthread_mutex_lock [libc.so.6]"; names that have the object in them, and those of the kernel
// itself, stand alone.
std::vector<std::string> texts_of(std::span<const StackFrame> frames) {
  std::vector<std::string> texts;
  texts.reserve(frames.size());
  for (const StackFrame& frame : frames) {
    const bool has_object = frame.object.empty() || frame.object == "[kernel]" ||
                            frame.function.find(frame.object) != std::string::npos;
    texts.push_back(has_object ? frame.function : frame.function + " [" + frame.object + "]");
  }
  return texts;
}

std::size_t bytes_of(const ExaminedWait& wait) {
  std::size_t bytes = sizeof(ExaminedWait) + wait.site.size();
  for (const auto* texts : {&wait.user, &wait.kernel}) {
    for (const std::string& text : *texts) bytes += sizeof(std::string) + text.capacity();
  }
  return bytes;
}

// What ended, by cgroup and what it was for.
class EndedSums {
 public:
  explicit EndedSums(const CgroupPaths& cgroups) : cgroups_(cgroups) {}

  void add(std::uint64_t cgroup_id, WaitFor wait_for, const WaitEstimate& waits) {
    if (waits.slots.empty()) return;
    auto path = paths_.find(cgroup_id);
    if (path == paths_.end()) path = paths_.emplace(cgroup_id, cgroups_.path_of(cgroup_id)).first;
    sums_[{path->second, wait_for}] += waits;
  }

  std::vector<EndedWaits> take() && {
    std::vector<EndedWaits> ended;
    ended.reserve(sums_.size());
    for (auto& [key, waits] : sums_) {
      ended.push_back({.cgroup = key.first, .wait_for = key.second, .waits = std::move(waits)});
    }
    return ended;
  }

 private:
  const CgroupPaths& cgroups_;
  std::unordered_map<std::uint64_t, std::string> paths_;
  std::map<std::pair<std::string, WaitFor>, WaitEstimate> sums_;
};

}  // namespace

std::shared_ptr<const WaitWindow> WaitExaminer::examine(const WaitInterval& interval,
                                                        const Means& means) {
  use(means);
  auto window = std::make_shared<WaitWindow>();
  window->begin = interval.begin;
  window->begin_at = interval.begin_at;
  window->end_at = interval.end_at;
  window->lost_ns = interval.lost_ns;
  EndedSums ended(interval.cgroups);
  SiteSums sites(interval.cgroups);
  std::vector<Examined> examined;
  examined.reserve(interval.waits.sums.size());
  for (const WaitSum& sum : interval.waits.sums) {
    examined.push_back(examine(sum, interval, means));
    ended.add(sum.sample.cgroup_id, examined.back()->wait_for, sum.ended);
    sites.add(sum, *examined.back());
  }
  for (const auto& [cgroup_id, waits] : interval.waits.overflow) {
    ended.add(cgroup_id, WaitFor::Unknown, waits);
  }
  window->ended = std::move(ended).take();
  for (const auto& [cgroup_id, time] : interval.waits.overflow_times) {
    sites.add_unknown(cgroup_id, time);
  }
  learn(interval, examined, means);
  add_blocks(*window, sites, interval, examined);
  window->sites = std::move(sites).take();
  return window;
}

// What waits took where nobody can tell what they are for, before blocks are held against it.
void WaitExaminer::learn(const WaitInterval& interval, const std::vector<Examined>& examined,
                         const Means& means) {
  double seen_ns = 0;
  double lost_ns = static_cast<double>(interval.lost_ns);
  for (const WaitSum& sum : interval.waits.sums) seen_ns += sum.ended.sum_ns;
  for (const auto& [cgroup_id, waits] : interval.waits.overflow) lost_ns += waits.sum_ns;
  const auto end_ns = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(interval.end_at.time_since_epoch()).count());
  pasts_.begin_window(end_ns, lost_ns > kDeaf * (seen_ns + lost_ns));
  for (std::size_t i = 0; i < examined.size(); ++i) {
    if (examined[i]->place == 0) continue;
    const offcpud_sample& sample = interval.waits.sums[i].sample;
    pasts_.learn(examined[i]->place, {.owner = means.owners.of(sample), .unit = sample.cgroup_id},
                 interval.waits.sums[i]);
  }
}

void WaitExaminer::use(const Means& means) {
  means.classifier.use(means.rules);
  if (std::exchange(rules_, means.rules) != means.rules) {
    known_.clear();
    blocks_.clear();
    of_users_.clear();
    bytes_ = 0;
  }
  std::erase_if(known_, [&](const auto& item) {
    if (item.second.until > means.now) return false;
    release(item.second);
    return true;
  });
}

// Makes room for what a stack of this user said.
void WaitExaminer::hold(const ShareOwner& owner, std::size_t bytes) {
  bytes_ += bytes;
  of_users_[owner] += bytes;
  while (bytes_ > kMostBytes) {
    const auto most =
        std::ranges::max_element(of_users_, {}, [](const auto& of) { return of.second; });
    const ShareOwner loses = most->first;
    const std::size_t before = known_.size();
    std::erase_if(known_, [&](const auto& item) {
      if (item.second.owner != loses) return false;
      release(item.second);
      return true;
    });
    if (known_.size() == before) return;  // it is all of this one
  }
}

void WaitExaminer::release(const Known& known) {
  bytes_ -= known.bytes;
  const auto of_user = of_users_.find(known.owner);
  of_user->second -= known.bytes;
  if (of_user->second == 0) of_users_.erase(of_user);
}

WaitExaminer::Examined WaitExaminer::examine(const WaitSum& sum, const WaitInterval& interval,
                                             const Means& means) {
  const auto known = known_.find(sum.key);
  if (known != known_.end()) return known->second.wait;

  const NamedStack stack = name_stack(sum, interval, means.names);
  const WaitClass found =
      means.classifier.classify(up_to_nul(sum.sample.process_comm), sum.sample.kind,
                                outermost_first(stack.user), outermost_first(stack.kernel));
  auto wait = std::make_shared<ExaminedWait>();
  wait->wait_for = found.wait_for;
  wait->site = found.site;
  wait->certain = found.certain;
  if (found.wait_for == WaitFor::Unknown) {
    wait->place = pasts_.place_of(interval.cgroups.path_of(sum.sample.cgroup_id), sum.sample,
                                  stack.user, stack.kernel);
  }
  if (!is_idle(found.wait_for)) {
    wait->user = texts_of(stack.user);
    wait->kernel = texts_of(stack.kernel);
  }
  const std::size_t bytes = sizeof(Known) + 8 * sum.key.size() + bytes_of(*wait);
  const ShareOwner owner = means.owners.of(sum.sample);
  hold(owner, bytes);
  const MonotonicTime until = means.now + (found.certain ? kGoodFor : kUnsureFor);
  known_.emplace(sum.key, Known{.wait = wait, .until = until, .bytes = bytes, .owner = owner});
  return wait;
}

// Blocks that ended are in no later window, so only those that are seen again are kept.
void WaitExaminer::add_blocks(WaitWindow& window, SiteSums& sites, const WaitInterval& interval,
                              const std::vector<Examined>& examined) {
  auto before = std::exchange(blocks_, {});
  window.unexamined = interval.waits.blocks_left_out;
  for (const SeenBlock& block : interval.waits.blocks) {
    const std::pair key(block.tid, block.since_ns);
    Examined wait;
    if (block.sum != SeenBlock::kKnown) {
      wait = examined[block.sum];
    } else if (const auto known = before.find(key); known != before.end()) {
      wait = known->second;
    }
    sites.add(block, wait.get());
    if (!wait) {
      ++window.unexamined;
      continue;
    }
    blocks_.emplace(key, wait);
    auto usual = wait->place != 0 && !block.censored ? pasts_.usual_of(wait->place, block.since_ns)
                                                     : nullptr;
    window.blocks.push_back({.tid = block.tid,
                             .since_ns = block.since_ns,
                             .censored = block.censored,
                             .wait = std::move(wait),
                             .usual = std::move(usual)});
  }
}

}  // namespace offcpud
