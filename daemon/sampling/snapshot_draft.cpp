// SPDX-License-Identifier: Apache-2.0
#include "sampling/snapshot_draft.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "sampling/kernel_stack.h"
#include "unwind.h"

namespace offcpud {
namespace {

std::string text_of(const char (&comm)[OFFCPUD_COMM]) {
  return {comm, ::strnlen(comm, sizeof(comm))};
}

// Numbers of frames in a snapshot under construction.
class FrameTable {
 public:
  explicit FrameTable(std::vector<StackFrame>& frames) : frames_(frames) {}

  std::uint32_t number(StackFrame frame) {
    auto key =
        std::tuple(frame.function, frame.object, frame.build_id, frame.address, frame.kernel);
    const auto [found, fresh] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(std::move(frame));
    return found->second;
  }

  // Innermost first in, outermost first out.
  std::vector<std::uint32_t> numbers(std::span<const StackFrame> frames) {
    std::vector<std::uint32_t> out;
    out.reserve(frames.size());
    for (const StackFrame& frame : frames) out.push_back(number(frame));
    std::ranges::reverse(out);
    return out;
  }

 private:
  std::vector<StackFrame>& frames_;
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t, bool>;
  std::map<Key, std::uint32_t> numbers_;
};

// Why a walk ended, as the outermost frame; nullptr: it is complete, or there is nothing to walk.
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
      return "[incomplete: deeper than 127 frames]";
    case OFFCPUD_UNWIND_END_COMPAT:
      return "[incomplete: 32-bit program]";
    default:
      return "[incomplete: stack not readable]";
  }
}

StackFrame marker(const char* text) {
  StackFrame frame;
  frame.function = text;
  return frame;
}

class Drafter {
 public:
  Drafter(const SampledInterval& interval, FunctionNames& names, SnapshotDraft& draft)
      : interval_(interval), names_(names), draft_(draft), table_(draft.snapshot.frames) {}

  void add(const BlockSum& sum) {
    const offcpud_sample& sample = sum.sample;
    const SampledBlock block = sum.block();
    StackEntry entry;
    entry.pid = sample.local_tgid;
    entry.comm = text_of(sample.process_comm);
    entry.thread_comm = text_of(sample.comm);
    entry.reason = sample.kind;
    entry.in_progress = (sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) != 0;
    entry.ns = sum.ns;
    entry.episodes = sum.episodes;
    entry.kernel = table_.numbers(without_switch(kernel(block.kernel)));
    auto user = user_stack(sample, sum.user, false);
    if (const char* text = end_text(sample.user_end)) user.push_back(marker(text));
    entry.user = table_.numbers(user);
    add_waker(entry, sum, block);
    draft_.snapshot.entries.push_back(std::move(entry));
    draft_.cgroup_ids.push_back(sample.cgroup_id);
  }

  void add_unknown(std::uint64_t ns, const char* why) {
    if (ns == 0) return;
    StackEntry entry;
    entry.comm = "offcpud";
    entry.user = {table_.number(marker(why))};
    entry.ns = ns;
    draft_.snapshot.entries.push_back(std::move(entry));
    draft_.cgroup_ids.push_back(0);
  }

 private:
  void add_waker(StackEntry& entry, const BlockSum& sum, const SampledBlock& block) {
    const offcpud_sample& sample = sum.sample;
    if (sample.waker >= OFFCPUD_WAKERS) return;
    const bool interrupt = sample.waker == OFFCPUD_FROM_INTERRUPT;
    entry.waker_comm = interrupt ? "[irq]" : text_of(sample.waker_comm);
    entry.waker_pid = interrupt ? 0 : sample.waker_tgid;
    entry.waker_kernel = table_.numbers(without_tracepoint(kernel(block.waker_kernel), interrupt));
    entry.waker_user = table_.numbers(user_stack(sample, sum.waker_user, true));
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
  SnapshotDraft& draft_;
  FrameTable table_;
  std::vector<StackFrame> frames_;
};

}  // namespace

SnapshotDraft draft_of(const SampledInterval& interval, FunctionNames& names) {
  SnapshotDraft draft;
  draft.snapshot.begin = interval.begin;
  draft.snapshot.end = interval.end;
  draft.snapshot.duration = interval.duration;
  draft.snapshot.partial = interval.partial;
  Drafter drafter(interval, names, draft);
  for (const BlockSum& sum : interval.cut.sums) drafter.add(sum);
  drafter.add_unknown(interval.cut.overflow_ns, "[more different stacks than are kept]");
  drafter.add_unknown(interval.lost_ns, "[samples that found no room]");
  return draft;
}

}  // namespace offcpud
