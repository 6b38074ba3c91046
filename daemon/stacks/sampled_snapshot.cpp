// SPDX-License-Identifier: Apache-2.0
#include "stacks/sampled_snapshot.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "snapshot/stack_id.h"
#include "stacks/kernel_stack.h"
#include "unwind.h"

namespace offcpud {
namespace {

// Numbers the frames of a snapshot under construction.
class FrameTable {
 public:
  explicit FrameTable(std::vector<StackFrame>& frames) : frames_(frames) {}

  std::uint32_t number(StackFrame frame) {
    auto key = std::tuple(frame.function, frame.object, frame.build_id, frame.address, frame.kernel,
                          frame.line);
    const auto [found, fresh] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(std::move(frame));
    return found->second;
  }

  // Takes frames innermost first, returns numbers outermost first.
  std::vector<std::uint32_t> numbers(std::span<const StackFrame> frames) {
    std::vector<std::uint32_t> out;
    out.reserve(frames.size());
    for (const StackFrame& frame : frames) out.push_back(number(frame));
    std::ranges::reverse(out);
    return out;
  }

 private:
  std::vector<StackFrame>& frames_;
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t, bool, std::uint32_t>;
  std::map<Key, std::uint32_t> numbers_;
};

// The outermost frame, which says why a walk ended early; nullptr: it is complete, or there was
// nothing to walk.
const char* end_text(std::uint32_t end) {
  switch (end) {
    case OFFCPUD_UNWIND_END_ROOT:
    case OFFCPUD_UNWIND_END_NO_USER:
      return nullptr;
    case OFFCPUD_UNWIND_END_FP:
      return "[incomplete: frame pointers lead nowhere]";
    case OFFCPUD_UNWIND_END_NO_MAPPING:
      return "[incomplete: unknown memory]";
    case OFFCPUD_UNWIND_END_NO_RULE:
      return "[incomplete: no unwind table]";
    case OFFCPUD_UNWIND_END_INVALID:
      return "[incomplete: unwind rule not supported]";
    case OFFCPUD_UNWIND_END_DEPTH:
      return "[incomplete: more frames than are kept]";
    case OFFCPUD_UNWIND_END_COMPAT:
      return "[incomplete: 32-bit program]";
    default:
      return "[incomplete: stack not readable]";
  }
}

StackFrame marker(std::string_view text) {
  StackFrame frame;
  frame.function = text;
  return frame;
}

class SnapshotBuilder {
 public:
  SnapshotBuilder(const SampledInterval& interval, FunctionNames& names, WaitClasses& classes)
      : interval_(interval), names_(names), classes_(classes), table_(snapshot_.frames) {}

  void add(const BlockSum& sum) {
    const offcpud_sample& sample = sum.sample;
    StackEntry entry;
    entry.cgroup = interval_.cgroups.path_of(sample.cgroup_id);
    if (!is_kept(sample.cgroup_id, entry.cgroup)) return;
    const SampledBlock block = sum.block();
    entry.pid = sample.local_tgid;
    entry.comm = up_to_nul(sample.process_comm);
    entry.thread_comm = up_to_nul(sample.comm);
    entry.reason = sample.kind;
    entry.in_progress = is_in_progress(sample);
    entry.ns = sum.ns;
    entry.episodes = sum.episodes;
    entry.variance = sum.variance;
    entry.kernel = table_.numbers(without_switch(kernel(block.kernel)));
    const auto user = user_stack(sample, sum.user, false);
    entry.user = numbers(user, sample.user_end);
    const bool own_timer = add_waker(entry, sum, block);
    // Rules see the interpreter's own functions and, by the sum, those that it runs.
    classes_.classify(snapshot_, entry, sum, own_timer);
    if (sum.interpreted) {
      entry.user = numbers(with_interpreted(user, sum.interpreted.get()), sample.user_end);
    }
    snapshot_.entries.push_back(std::move(entry));
    if (sum.longest_ns != 0) longest_.emplace_back(snapshot_.entries.size() - 1, &sum);
  }

  void add_unknown(std::uint64_t ns, std::string_view why) {
    if (ns == 0) return;
    StackEntry entry;
    entry.cgroup = kOtherCgroup;
    entry.comm = "offcpud";
    entry.user = {table_.number(marker(why))};
    entry.ns = ns;
    snapshot_.entries.push_back(std::move(entry));
  }

  SampledSnapshot take() && {
    classes_.decide(snapshot_);
    std::vector<FoundExemplar> exemplars;
    const StackIds ids(snapshot_);
    for (const auto& [entry, sum] : longest_) {
      const std::uint64_t stack = ids.of(snapshot_.entries[entry]);
      if (stack != 0) exemplars.push_back(exemplar_of(snapshot_.entries[entry], *sum, stack));
    }
    return {std::move(snapshot_), std::move(exemplars)};
  }

 private:
  [[nodiscard]] bool is_kept(std::uint64_t cgroup_id, const std::string& path) const {
    return cgroup_id == 0 || !interval_.capture || !interval_.capture->keeps_cgroup ||
           interval_.capture->keeps_cgroup(path);
  }

  [[nodiscard]] FoundExemplar exemplar_of(const StackEntry& entry, const BlockSum& sum,
                                          std::uint64_t stack) const {
    const std::chrono::nanoseconds ended(sum.longest_ended_ns);
    const auto ago = interval_.ended.time_since_epoch() - ended;
    return {
        .cgroup = entry.cgroup,
        .process_start_ns = sum.sample.process_start_ns,
        .kind = entry.reason,
        .wait_for = entry.wait_for,
        .exemplar = {.duration_ns = sum.longest_ns,
                     .ended = interval_.end - std::chrono::duration_cast<WallTime::duration>(ago),
                     .pid = sum.sample.local_tgid,
                     .stack = stack}};
  }

  std::vector<std::uint32_t> numbers(std::vector<StackFrame> user, std::uint32_t end) {
    if (const char* text = end_text(end)) user.push_back(marker(text));
    return table_.numbers(user);
  }

  // Returns whether the thread's own timer is what ended the blocks.
  bool add_waker(StackEntry& entry, const BlockSum& sum, const SampledBlock& block) {
    const offcpud_sample& sample = sum.sample;
    if (sample.waker >= OFFCPUD_WAKERS) return false;
    const bool interrupt = sample.waker == OFFCPUD_FROM_INTERRUPT;
    entry.waker_comm = interrupt ? "[irq]" : up_to_nul(sample.waker_comm);
    entry.waker_pid = interrupt ? 0 : sample.waker_local_tgid;
    const auto frames = kernel(block.waker_kernel);
    entry.waker_kernel = table_.numbers(without_tracepoint(frames, interrupt));
    entry.waker_user = table_.numbers(user_stack(sample, sum.waker_user, true));
    return is_of_own_timer(frames);
  }

  std::span<const StackFrame> kernel(std::span<const __u64> addresses) {
    frames_.clear();
    for (const __u64 address : addresses) {
      const auto found = interval_.kernel_names.find(address);
      frames_.push_back(found == interval_.kernel_names.end() ? unnamed_kernel() : found->second);
    }
    return frames_;
  }

  static StackFrame unnamed_kernel() {
    StackFrame frame = marker("[unknown]");
    frame.object = "[kernel]";
    frame.kernel = true;
    return frame;
  }

  std::vector<StackFrame> user_stack(const offcpud_sample& sample,
                                     std::span<const LocatedFrame> located, bool waker) {
    std::vector<StackFrame> frames;
    frames.reserve(located.size() + 1);
    for (const LocatedFrame& frame : located) frames.push_back(names_.name(sample, frame, waker));
    return frames;
  }

  const SampledInterval& interval_;
  FunctionNames& names_;
  WaitClasses& classes_;
  Snapshot snapshot_;
  FrameTable table_;  // of snapshot_
  std::vector<StackFrame> frames_;
  // Indexes of entries with an ended episode.
  std::vector<std::pair<std::size_t, const BlockSum*>> longest_;
};

}  // namespace

SampledSnapshot snapshot_of(const SampledInterval& interval, FunctionNames& names,
                            WaitClasses& classes) {
  SnapshotBuilder builder(interval, names, classes);
  for (const BlockSum& sum : interval.stacks.sums) builder.add(sum);
  builder.add_unknown(interval.stacks.overflow_ns, kNoRoomForStacks);
  builder.add_unknown(interval.lost_ns, kNoRoomForSamples);
  SampledSnapshot made = std::move(builder).take();
  made.snapshot.begin = interval.begin;
  made.snapshot.end = interval.end;
  made.snapshot.duration = interval.duration;
  made.snapshot.partial = interval.partial;
  made.snapshot.lost_of_any_ns = interval.lost_of_any_ns;
  made.snapshot.sampling_interval = std::ranges::max(interval.sampling_intervals);
  made.snapshot.reason_intervals = interval.sampling_intervals;
  if (interval.capture && !interval.capture->text.empty()) {
    made.snapshot.captured = {interval.capture->text};
  }
  return made;
}

}  // namespace offcpud
