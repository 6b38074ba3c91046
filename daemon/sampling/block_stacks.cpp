// SPDX-License-Identifier: Apache-2.0
#include "sampling/block_stacks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "sampling/kernel_stack.h"

namespace offcpud {
namespace {

// Words of a key before the frames.
constexpr std::size_t kHead = 8;

std::uint64_t word(std::uint32_t high, std::uint32_t low) {
  return (std::uint64_t{high} << 32) | low;
}

std::uint64_t word_of(const char (&comm)[OFFCPUD_COMM], std::size_t half) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, comm + 8 * half, sizeof(bytes));
  return bytes;
}

std::string text_of(const char (&comm)[OFFCPUD_COMM]) {
  return {comm, ::strnlen(comm, sizeof(comm))};
}

// Numbers of frames in a snapshot under construction.
class FrameTable {
 public:
  explicit FrameTable(std::vector<StackFrame>& frames) : frames_(frames) {}

  std::uint32_t number(StackFrame frame) {
    const auto key = std::tuple(frame.function, frame.object, frame.address, frame.kernel);
    const auto [found, fresh] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(std::move(frame));
    return found->second;
  }

  // Innermost first in, outermost first out.
  std::vector<std::uint32_t> numbers(std::span<const StackFrame> frames) {
    std::vector<std::uint32_t> out;
    for (const StackFrame& frame : frames) out.push_back(number(frame));
    std::ranges::reverse(out);
    return out;
  }

 private:
  std::vector<StackFrame>& frames_;
  std::map<std::tuple<std::string, std::string, std::uint64_t, bool>, std::uint32_t> numbers_;
};

std::vector<StackFrame> kernel_names(std::span<const std::uint64_t> addresses, StackNames& names) {
  std::vector<StackFrame> frames;
  for (const std::uint64_t address : addresses) frames.push_back(names.kernel(address));
  return frames;
}

StackEntry entry_of(const offcpud_sample& sample, std::span<const std::uint64_t> addresses,
                    StackNames& names, const OwnerOf& owner_of, FrameTable& table) {
  const SampleOwner owner = owner_of(sample);
  StackEntry entry;
  entry.pid = owner.local_pid;
  entry.comm = owner.comm;
  entry.thread_comm = text_of(sample.comm);
  entry.cgroup = owner.cgroup;
  entry.reason = sample.kind;

  entry.kernel =
      table.numbers(without_switch(kernel_names(addresses.first(sample.kernel_frames), names)));
  std::vector<StackFrame> user;
  for (const std::uint64_t address : addresses.subspan(sample.kernel_frames, sample.user_frames)) {
    user.push_back(names.user(sample.tgid, sample.process_start_ns, address));
  }
  if (sample.user_end != 0) user.push_back(names.incomplete(sample.user_end));
  entry.user = table.numbers(user);

  const bool interrupt = sample.waker == OFFCPUD_FROM_INTERRUPT;
  entry.waker_comm = interrupt ? "[irq]" : text_of(sample.waker_comm);
  entry.waker_kernel = table.numbers(
      without_tracepoint(kernel_names(addresses.last(sample.waker_frames), names), interrupt));
  return entry;
}

}  // namespace

std::size_t BlockStacks::HashKey::operator()(const Key& key) const {
  std::size_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::uint64_t part : key) hash = (hash ^ part) * 0x100000001b3;
  return hash;
}

void BlockStacks::add(const offcpud_sample_record& record) {
  const offcpud_sample& sample = record.sample;
  ++samples_;
  Sum sum{.sample = sample, .ns = sample.weight_ns, .episodes = 0};
  sum.episodes = static_cast<double>(sample.weight_ns) /
                 static_cast<double>(std::max<std::uint64_t>(sample.ns, 1));
  sum.sample.kernel_frames = std::min<std::uint32_t>(sample.kernel_frames, OFFCPUD_STACK_FRAMES);
  sum.sample.user_frames = std::min<std::uint32_t>(sample.user_frames, OFFCPUD_STACK_FRAMES);
  sum.sample.waker_frames = std::min<std::uint32_t>(sample.waker_frames, OFFCPUD_WAKER_FRAMES);

  Key key = {sample.process_start_ns,
             word(sample.tgid, sample.kind),
             sample.cgroup_id,
             word(sample.waker, sample.user_end),
             word_of(sample.comm, 0),
             word_of(sample.comm, 1),
             sample.waker == OFFCPUD_FROM_INTERRUPT ? 0 : word_of(sample.waker_comm, 0),
             sample.waker == OFFCPUD_FROM_INTERRUPT ? 0 : word_of(sample.waker_comm, 1)};
  key.insert(key.end(), record.kernel, record.kernel + sum.sample.kernel_frames);
  key.insert(key.end(), record.user, record.user + sum.sample.user_frames);
  key.insert(key.end(), record.waker, record.waker + sum.sample.waker_frames);

  const auto found = sums_.find(key);
  if (found != sums_.end()) {
    found->second.ns += sum.ns;
    found->second.episodes += sum.episodes;
  } else if (sums_.size() < most_) {
    sums_.emplace(std::move(key), sum);
  } else {
    ++overflowed_;
    overflow_ns_ += sum.ns;
  }
}

Snapshot BlockStacks::cut(StackNames& names, const OwnerOf& owner_of) {
  Snapshot snapshot;
  FrameTable table(snapshot.frames);
  for (const auto& [key, sum] : sums_) {
    StackEntry entry = entry_of(sum.sample, std::span(key).subspan(kHead), names, owner_of, table);
    entry.ns = sum.ns;
    entry.episodes = sum.episodes;
    snapshot.entries.push_back(std::move(entry));
  }
  const auto add_unknown = [&](std::uint64_t& ns, const char* why) {
    if (ns == 0) return;
    StackEntry entry;
    entry.comm = "offcpud";
    entry.user = {table.number({.function = why, .object = {}, .build_id = {}})};
    entry.ns = std::exchange(ns, 0);
    snapshot.entries.push_back(std::move(entry));
  };
  add_unknown(overflow_ns_, "[more different stacks than are kept]");
  add_unknown(lost_ns_, "[samples the kernel had no room for]");
  sums_.clear();
  samples_ = 0;
  return snapshot;
}

}  // namespace offcpud
