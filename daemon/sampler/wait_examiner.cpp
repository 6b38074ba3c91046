// SPDX-License-Identifier: Apache-2.0
#include "sampler/wait_examiner.h"

#include <algorithm>
#include <ranges>
#include <span>
#include <string>

#include "base/text.h"
#include "sampler/site_place.h"
#include "sampler/site_sums.h"
#include "sites/file_evidence.h"
#include "stacks/kernel_stack.h"

namespace offcpud {
namespace {

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

// The sum has all threads of its stack. Where evidence of snapshots tells them apart, each class
// gets its share, so that the sums over all classes are what they were.
void add_ended(EndedSums& ended, SiteSums& sites, const WaitSum& sum, ExaminedStack& stack,
               const WaitExaminer::Means& means) {
  const bool is_open = stack.ask() != SiteQuestion::None;
  const auto* const shares = is_open ? means.places.find(stack.at(), means.now) : nullptr;
  if (shares == nullptr) {
    ended.add(sum.sample.cgroup_id, stack.wait()->wait_for, sum.ended);
    return sites.add(sum, *stack.wait(), 1);
  }
  for (std::size_t i = 0; i < shares->size(); ++i) {
    const double share = (*shares)[i];
    if (share == 0) continue;
    const auto wait_for = static_cast<WaitFor>(i);
    ended.add(sum.sample.cgroup_id, wait_for, sum.ended.part(share));
    sites.add(sum, *stack.as({.wait_for = wait_for}), share);
  }
}

ProcessPlace place_of(const offcpud_sample& sample, std::span<const StackFrame> user) {
  PlaceNumber place(sample.kind);
  for (const StackFrame& frame : std::views::reverse(user)) place.add(name_hash(frame));
  return {.tgid = sample.tgid,
          .process_start_ns = sample.process_start_ns,
          .place = is_place(sample.user_end) ? place.number() : 0};
}

// What evidence of wakers says of a block; chains are followed later.
EvidenceVerdict verdict_of(const ExaminedStack& stack, std::uint32_t tid,
                           const WaitExaminer::Means& means) {
  const EvidenceVerdict by_rule = stack.verdict();
  if (!asks_for_wakers(stack.ask())) return by_rule;
  const ProcessPlace& at = stack.at();
  const ThreadAtPlace thread{
      .tgid = at.tgid, .tid = tid, .process_start_ns = at.process_start_ns, .place = at.place};
  return as_asked(stack.ask(), means.evidence.judge(thread, by_rule.wait_for, means.now),
                  by_rule.wait_for);
}

LastingBlock lasting_block(const SeenBlock& block, const ExaminedStack& stack,
                           const WaitExaminer::Means& means) {
  using Awaits = LastingBlock::Awaits;
  const bool reads = stack.ask() == SiteQuestion::Pipe || stack.ask() == SiteQuestion::Fds;
  const bool is_pipe = reads && (block.waited_on & OFFCPUD_ON_PIPE) != 0;
  const Awaits other = is_pipe ? Awaits::Pipe : Awaits::Nothing;
  return {.tid = block.tid,
          .tgid = block.tgid,
          .parent_tgid = block.parent_tgid,
          .awaits = stack.ask() == SiteQuestion::Child ? Awaits::Child : other,
          .holder_tgid = block.holder_tgid,
          .is_own_pipe = (block.waited_on & OFFCPUD_ON_OWN) != 0,
          .verdict = verdict_of(stack, block.tid, means)};
}

// For snapshots, and for waits of the same place that end.
void tell_place(const ExaminedStack& stack, WaitFor wait_for, const WaitExaminer::Means& means) {
  PlaceClasses::Times times{};
  times[static_cast<std::size_t>(wait_for)] = 1;
  if (!means.places.put(stack.at(), times, means.now)) means.evidence.add_left_out(1);
}

}  // namespace

std::shared_ptr<const WaitWindow> WaitExaminer::examine(const WaitInterval& interval,
                                                        const Means& means) {
  use(means);
  auto window = std::make_shared<WaitWindow>();
  window->begin = interval.begin;
  window->begin_at = interval.begin_at;
  window->end_at = interval.end_at;
  window->lost_ns = interval.lost_ns;
  window->lost_within_ns = interval.lost_within_ns;
  EndedSums ended(interval.cgroups);
  SiteSums sites(interval.cgroups);
  std::vector<Examined> examined;
  examined.reserve(interval.waits.sums.size());
  for (const WaitSum& sum : interval.waits.sums) {
    examined.push_back(examine(sum, interval, means));
    add_ended(ended, sites, sum, *examined.back(), means);
  }
  for (const auto& [cgroup_id, waits] : interval.waits.overflow) {
    ended.add(cgroup_id, WaitFor::Unknown, waits);
  }
  window->ended = std::move(ended).take();
  for (const auto& [cgroup_id, time] : interval.waits.overflow_times) {
    sites.add_unknown(cgroup_id, time);
  }
  add_blocks(*window, sites, interval, examined, means);
  window->sites = std::move(sites).take();
  return window;
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
  if (known != known_.end()) return known->second.stack;

  const NamedStack stack = name_stack(sum, interval, means.names);
  const WaitClass found =
      means.classifier.classify(up_to_nul(sum.sample.process_comm), sum.sample.kind,
                                outermost_first(stack.user), outermost_first(stack.kernel));
  ExaminedWait wait{.wait_for = found.wait_for,
                    .site = std::string(found.site),
                    .certain = found.certain,
                    .user = texts_of(stack.user),
                    .kernel = texts_of(stack.kernel)};
  const auto by = by_files(found.ask, sum.sample.waited_on);
  if (by) {
    wait.wait_for = by->wait_for;
    wait.certain = by->certain;
  }
  const SiteQuestion open = by ? SiteQuestion::None : found.ask;
  return remember(sum, {std::move(wait), open, place_of(sum.sample, stack.user)}, means);
}

WaitExaminer::Examined WaitExaminer::remember(const WaitSum& sum, ExaminedStack stack,
                                              const Means& means) {
  const auto kept = std::make_shared<ExaminedStack>(std::move(stack));
  const std::size_t bytes = sizeof(Known) + 8 * sum.key.size() + kept->bytes();
  const ShareOwner owner = means.owners.of(sum.sample);
  hold(owner, bytes);
  const MonotonicTime until = means.now + (kept->wait()->certain ? kGoodFor : kUnsureFor);
  known_.emplace(sum.key, Known{.stack = kept, .until = until, .bytes = bytes, .owner = owner});
  return kept;
}

// Null: nobody has told its stack.
WaitExaminer::Examined WaitExaminer::stack_of(const SeenBlock& block,
                                              const std::vector<Examined>& examined) const {
  if (block.sum != SeenBlock::kKnown) return examined[block.sum];
  const auto known = blocks_.find({block.tid, block.since_ns});
  return known == blocks_.end() ? nullptr : known->second;
}

// Blocks that ended are in no later window, so only those that are seen again are kept.
void WaitExaminer::add_blocks(WaitWindow& window, SiteSums& sites, const WaitInterval& interval,
                              const std::vector<Examined>& examined, const Means& means) {
  decltype(blocks_) seen;
  std::vector<LastingBlock> lasting;
  std::vector<std::pair<const SeenBlock*, ExaminedStack*>> found;
  window.unexamined = interval.waits.blocks_left_out;
  for (const SeenBlock& block : interval.waits.blocks) {
    Examined stack = stack_of(block, examined);
    if (!stack) {
      sites.add(block, nullptr);
      ++window.unexamined;
      continue;
    }
    lasting.push_back(lasting_block(block, *stack, means));
    found.emplace_back(&block, stack.get());
    seen.emplace(std::pair(block.tid, block.since_ns), std::move(stack));
  }
  follow_chains(lasting);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [block, stack] = found[i];
    const EvidenceVerdict& verdict = lasting[i].verdict;
    if (asks_for_chains(stack->ask())) tell_place(*stack, verdict.wait_for, means);
    auto wait = stack->as(verdict);
    sites.add(*block, wait.get());
    window.blocks.push_back({.tid = block->tid,
                             .since_ns = block->since_ns,
                             .censored = block->censored,
                             .wait = std::move(wait)});
  }
  blocks_ = std::move(seen);
}

}  // namespace offcpud
