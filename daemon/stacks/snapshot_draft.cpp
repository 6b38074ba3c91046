// SPDX-License-Identifier: Apache-2.0
#include "stacks/snapshot_draft.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "snapshot/stack_id.h"
#include "stacks/kernel_stack.h"
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
      return "[incomplete: more frames than are kept]";
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
    entry.variance = sum.variance;
    entry.kernel = table_.numbers(without_switch(kernel(block.kernel)));
    auto user = user_stack(sample, sum.user, false);
    if (const char* text = end_text(sample.user_end)) user.push_back(marker(text));
    entry.user = table_.numbers(user);
    add_waker(entry, sum, block);
    if (sum.longest_ns != 0) add_exemplar(sum);
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
  // Of the entry that comes next.
  void add_exemplar(const BlockSum& sum) {
    const std::chrono::nanoseconds ended(sum.longest_ended_ns);
    const auto ago = interval_.ended.time_since_epoch() - ended;
    draft_.exemplars.push_back(
        {.entry = draft_.snapshot.entries.size(),
         .process_start_ns = sum.sample.process_start_ns,
         .exemplar = {.duration_ns = sum.longest_ns,
                      .ended = interval_.end - std::chrono::duration_cast<WallTime::duration>(ago),
                      .pid = sum.sample.local_tgid,
                      .stack = 0}});
  }

  void add_waker(StackEntry& entry, const BlockSum& sum, const SampledBlock& block) {
    const offcpud_sample& sample = sum.sample;
    if (sample.waker >= OFFCPUD_WAKERS) return;
    const bool interrupt = sample.waker == OFFCPUD_FROM_INTERRUPT;
    entry.waker_comm = interrupt ? "[irq]" : text_of(sample.waker_comm);
    entry.waker_pid = interrupt ? 0 : sample.waker_local_tgid;
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

// What is left out leaves no names behind.
void forget_unused_frames(Snapshot& snapshot) {
  constexpr std::uint32_t kUnused = UINT32_MAX;
  std::vector<std::uint32_t> places(snapshot.frames.size(), kUnused);
  std::vector<StackFrame> frames;
  for (StackEntry& entry : snapshot.entries) {
    for (auto* stack : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
      for (std::uint32_t& frame : *stack) {
        std::uint32_t& place = places[frame];
        if (place == kUnused) {
          place = static_cast<std::uint32_t>(frames.size());
          frames.push_back(std::move(snapshot.frames[frame]));
        }
        frame = place;
      }
    }
  }
  snapshot.frames = std::move(frames);
}

}  // namespace

void SnapshotDraft::complete(const std::function<std::string(std::uint64_t cgroup_id)>& path_of) {
  std::vector<StackEntry>& entries = snapshot.entries;
  const auto is_kept = [&](std::size_t i) {
    return cgroup_ids[i] == 0 || !capture || !capture->keeps_cgroup ||
           capture->keeps_cgroup(entries[i].cgroup);
  };
  constexpr std::size_t kLeftOut = SIZE_MAX;
  std::vector<std::size_t> places(entries.size(), kLeftOut);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto told = cgroups ? cgroups->find(cgroup_ids[i]) : std::nullopt;
    entries[i].cgroup = told ? *std::move(told) : path_of(cgroup_ids[i]);
    if (!is_kept(i)) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    cgroup_ids[kept] = cgroup_ids[i];
    places[i] = kept++;
  }
  entries.resize(kept);
  cgroup_ids.resize(kept);
  for (DraftExemplar& one : exemplars) one.entry = places[one.entry];
  std::erase_if(exemplars, [](const DraftExemplar& one) { return one.entry == kLeftOut; });
  if (kept != places.size()) forget_unused_frames(snapshot);
}

SnapshotDraft draft_of(const SampledInterval& interval, FunctionNames& names) {
  SnapshotDraft draft;
  draft.snapshot.begin = interval.begin;
  draft.snapshot.end = interval.end;
  draft.snapshot.duration = interval.duration;
  draft.snapshot.partial = interval.partial;
  draft.snapshot.lost_of_any_ns = interval.lost_of_any_ns;
  if (interval.capture && !interval.capture->text.empty()) {
    draft.snapshot.captured = {interval.capture->text};
  }
  draft.capture = interval.capture;
  draft.cgroups = interval.cgroups;
  Drafter drafter(interval, names, draft);
  for (const BlockSum& sum : interval.cut.sums) drafter.add(sum);
  drafter.add_unknown(interval.cut.overflow_ns, "[more different stacks than are kept]");
  drafter.add_unknown(interval.lost_ns, "[samples that found no room]");
  const StackIds ids(draft.snapshot);
  for (DraftExemplar& one : draft.exemplars) {
    one.exemplar.stack = ids.of(draft.snapshot.entries[one.entry]);
  }
  return draft;
}

}  // namespace offcpud
