// SPDX-License-Identifier: Apache-2.0
#include "sampler/window_blocks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/gil_site.h"
#include "base/text.h"

namespace offcpud {
namespace {

// The name of the process of a block whose stack is in this window. Empty: an earlier window had
// the stack.
std::string_view name_of(const SeenBlock& block, const WaitInterval& interval) {
  if (block.sum == SeenBlock::kKnown) return {};
  return up_to_nul(interval.waits.sums[block.sum].sample.process_comm);
}

// Whether somebody may hold what waits of this kind are for. What is known to be idle waits for no
// lock: a thread that waits for its turn to ask for work does so while another one holds a mutex
// and asks. Nor does a thread that was stopped while it waited for one.
bool may_have_holder(WaitFor wait_for) {
  return wait_for != WaitFor::Work && wait_for != WaitFor::Timer && wait_for != WaitFor::Stopped;
}

HeldWait held_wait(const SeenBlock& block, const std::shared_ptr<const LockHolder>& holder,
                   WaitFor wait_for, WindowPaths& paths) {
  return {.tid = block.tid,
          .pid = block.local_tgid,
          .since_ns = block.since_ns,
          .age_ns = block.seen_ns - block.since_ns,
          .wait_for = wait_for,
          .cgroup = paths.of(block.cgroup_id),
          .holder_cgroup = paths.of(holder->process.cgroup_id),
          .holder = holder};
}

HeldWait held_wait(const GilWait& wait, WindowPaths& paths) {
  return {.tid = wait.tid,
          .pid = wait.local_tgid,
          .since_ns = wait.since_ns,
          .age_ns = wait.seen_ns - wait.since_ns,
          .wait_for = WaitFor::Lock,
          .cgroup = paths.of(wait.cgroup_id),
          .holder_cgroup = paths.of(wait.holder->process.cgroup_id),
          .holder = wait.holder};
}

}  // namespace

std::shared_ptr<const ExaminedWait> WindowBlocks::add(const SeenBlock& block, ExaminedStack& stack,
                                                      const EvidenceVerdict& verdict) {
  const std::pair key(block.tid, block.since_ns);
  const auto held = interval_.holders.find(key);
  const bool is_held = held != interval_.holders.end();
  const bool only_held = is_held && verdict.wait_for == WaitFor::Unknown;
  auto wait = stack.as(only_held ? EvidenceVerdict{WaitFor::Lock, true} : verdict);
  sites_.add(block, wait.get(), name_of(block, interval_));
  const auto holder = is_held && may_have_holder(wait->wait_for) ? held->second : nullptr;
  peers_.add(block, wait->wait_for, holder.get());
  if (holder && block.lasts) held_.push_back(held_wait(block, holder, wait->wait_for, paths_));
  const auto look = interval_.unheld.find(key);
  const bool is_unheld = look != interval_.unheld.end() && wait->wait_for == WaitFor::Lock;
  if (is_unheld && block.lasts) {
    unheld_.add(block.cgroup_id, wait->site == kGilSite, look->second);
  }
  return wait;
}

// Who waits for the GIL does so in many blocks, one after the other. One that lasts is there
// already; and one that began after the look is for something else.
void WindowBlocks::add_gil_waits() {
  if (interval_.gil_waits.empty()) return;
  std::map<std::uint32_t, std::uint64_t> lasting;  // by thread, since when
  for (const SeenBlock& block : interval_.waits.blocks) {
    if (block.lasts) lasting[block.tid] = block.since_ns;
  }
  std::set<std::uint32_t> held;
  for (const HeldWait& wait : held_) held.insert(wait.tid);
  for (const GilWait& wait : interval_.gil_waits) {
    const auto block = lasting.find(wait.tid);
    if (block != lasting.end() && block->second > wait.seen_ns) continue;
    if (!wait.holder) {
      unheld_.add(wait.cgroup_id, true, wait.look);
    } else if (held.insert(wait.tid).second) {
      held_.push_back(held_wait(wait, paths_));
    }
  }
  std::ranges::stable_sort(held_, {}, &HeldWait::tid);
}

void WindowBlocks::take(WaitWindow& window) && {
  add_gil_waits();
  window.held = std::move(held_);
  window.unheld = unheld_.by_path(paths_);
}

}  // namespace offcpud
