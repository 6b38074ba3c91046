// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "base/text.h"
#include "pipeline/stall_peers.h"
#include "pipeline/thread_record.h"
#include "pipeline/wait_window.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostHops = 4;

constexpr std::array<const char*, kLockNames.size()> kLockWords = {
    "a mutex",           "a robust mutex",        "a priority-inheriting mutex",
    "a read-write lock", "a mutex of the kernel", "a semaphore of the kernel",
    "a lock on a file"};

// "debit (tid 7), credit (tid 8)"
std::string text_of(const Deadlock& deadlock) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(deadlock.size(), kMost); ++i) {
    const LockHolder& holder = *deadlock[i].holder;
    text += (text.empty() ? "" : ", ") + comm_text(holder.comm);
    if (holder.local_tid != 0) text += " (tid " + std::to_string(holder.local_tid) + ")";
  }
  return deadlock.size() > kMost ? text + ", ..." : text;
}

// Says what holders do, by the last window and the last walk over threads.
class HolderDeeds {
 public:
  HolderDeeds(const View& view, UnitNames& names) : view_(view), names_(names), peers_(view) {
    if (!view.deadlocks) return;
    for (const Deadlock& deadlock : *view.deadlocks) {
      for (const HeldWait& wait : deadlock) circles_.emplace(wait.tid, &deadlock);
    }
  }

  UnitHolder describe(const HeldWait& wait) {
    passed_.clear();
    return describe_next(wait);
  }

 private:
  UnitHolder describe_next(const HeldWait& wait) {
    passed_.push_back(wait.holder->tid);
    const LockHolder& holder = *wait.holder;
    UnitHolder row{.waiters_for = wait.wait_for,
                   .lock = kLockWords.at(static_cast<std::size_t>(holder.kind)),
                   .by = names_.of(wait.holder_cgroup),
                   .process = comm_text(holder.process.comm),
                   .pid = holder.process.local_tgid,
                   .waiting = 1};
    if (!holder.is_thread()) return row;
    row.is_thread = true;
    row.thread = comm_text(holder.comm);
    row.tid = holder.local_tid;
    const auto circle = circles_.find(holder.tid);
    if (circle != circles_.end()) {
      row.does = UnitHolder::Does::Deadlocked;
      row.wait_for = WaitFor::Lock;
      row.circle = text_of(*circle->second);
    } else {
      add_deed(row, holder);
    }
    return row;
  }

  void add_deed(UnitHolder& row, const LockHolder& holder) {
    const ExaminedBlock* const block = last_block_of(holder.tid);
    if (block == nullptr) {
      const offcpud_thread* const thread =
          view_.walk ? find_thread(*view_.walk, holder.tid) : nullptr;
      const bool runs = thread != nullptr && (thread->state == OFFCPUD_THREAD_RUNNING ||
                                              thread->state == OFFCPUD_THREAD_RUNNABLE);
      if (runs) row.does = UnitHolder::Does::Runs;
      return;
    }
    row.does = UnitHolder::Does::Waits;
    row.wait_for = block->wait->wait_for;
    row.site = block->wait->site;
    if (const PeerWaits* const on = peers_.of(holder.process.local_tgid, row.wait_for)) {
      row.on = peer_on(on->on, names_);
      row.on.process = on->peer_comm;
      row.on.pid = on->peer_pid;
    }
    const HeldWait* const next = view_.waits->find_held(holder.tid);
    if (next == nullptr || passed_.size() >= kMostHops) return;
    if (std::ranges::find(passed_, next->holder->tid) != passed_.end()) return;  // a circle
    row.next = std::make_shared<const UnitHolder>(describe_next(*next));
  }

  // Null: no block of the thread lasted at the end of the window.
  [[nodiscard]] const ExaminedBlock* last_block_of(std::uint32_t tid) const {
    const auto& blocks = view_.waits->blocks;
    auto block = std::ranges::lower_bound(blocks, tid, {}, &ExaminedBlock::tid);
    for (; block != blocks.end() && block->tid == tid; ++block) {
      if (block->lasts) return &*block;
    }
    return nullptr;
  }

  const View& view_;
  UnitNames& names_;
  StallPeers peers_;
  std::map<std::uint32_t, const Deadlock*> circles_;  // by thread
  std::vector<std::uint32_t> passed_;                 // holders from the waiter on
};

}  // namespace

Source<UnitHolder> holders_of(const View& view, const ProcessRow* process, UnitNames& names) {
  Source<UnitHolder> source;
  if (!view.waits) return source;
  HolderDeeds deeds(view, names);
  std::map<std::tuple<std::string, std::uint32_t, std::size_t, WaitFor>, UnitHolder> rows;
  const auto add = [&](const std::string& unit, const HeldWait& wait) {
    const LockHolder& holder = *wait.holder;
    const auto [row, is_new] =
        rows.try_emplace({unit, holder.tid, static_cast<std::size_t>(holder.kind), wait.wait_for});
    if (!is_new) {
      ++row->second.waiting;
      return;
    }
    row->second = deeds.describe(wait);
    row->second.unit = unit;
  };
  for (const HeldWait& wait : view.waits->held) {
    add(names.of(wait.cgroup), wait);
    if (process != nullptr && wait.pid == process->pid) add(process_subject(*process), wait);
  }
  move_rows(source, rows, view.waits->end_at - view.waits->begin_at);
  return source;
}

}  // namespace offcpud
