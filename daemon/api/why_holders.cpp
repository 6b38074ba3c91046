// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/holder_state.h"
#include "api/why_rows.h"
#include "api/why_sources.h"
#include "base/text.h"
#include "holders/lock_holder.h"
#include "pipeline/past_holders.h"
#include "pipeline/stall_peers.h"
#include "pipeline/wait_window.h"
#include "pipeline/waited_on.h"
#include "why/cause.h"

namespace offcpud {
namespace {

constexpr std::array<const char*, kLockNames.size()> kLockWords = {
    "a mutex",           "a robust mutex",        "a priority-inheriting mutex",
    "a read-write lock", "a mutex of the kernel", "a semaphore of the kernel",
    "a lock on a file",  "the GIL of Python"};

// "debit (tid 7), credit (tid 8)"
std::string circle_text(const Deadlock& deadlock) {
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
                   .is_gil = holder.kind == LockKind::PythonGil,
                   .by = names_.of(wait.holder_cgroup),
                   .process = comm_text(holder.process.comm),
                   .pid = holder.process.local_tgid,
                   .waiting = wait.waiters};
    if (!holder.is_thread()) return row;
    row.is_thread = true;
    row.thread = comm_text(holder.comm);
    row.tid = holder.local_tid;
    const auto circle = circles_.find(holder.tid);
    if (circle != circles_.end()) {
      row.does = UnitHolder::Does::Deadlocked;
      row.age = holder_state(view_, holder).age;
      row.wait_for = WaitFor::Lock;
      row.circle = circle_text(*circle->second);
    } else {
      add_deed(row, holder);
    }
    return row;
  }

  void add_deed(UnitHolder& row, const LockHolder& holder) {
    const HolderState state = holder_state(view_, holder);
    row.does = state.does;
    row.age = state.age;
    if (state.block == nullptr) return;
    row.wait_for = state.block->wait->wait_for;
    row.site = state.block->wait->site;
    if (const PeerWaits* const on = peers_.of(holder.process.local_tgid, row.wait_for)) {
      row.on = peer_on(on->on, names_);
      row.on.process = on->peer_comm;
      row.on.pid = on->peer_pid;
    }
    const HeldWait* const next = view_.waits->find_held(holder.tid);
    if (next == nullptr || passed_.size() >= PastHolders::kMostHops) return;
    if (std::ranges::find(passed_, next->holder->tid) != passed_.end()) return;  // a circle
    row.next = std::make_shared<const UnitHolder>(describe_next(*next));
  }

  const View& view_;
  UnitNames& names_;
  StallPeers peers_;
  std::map<std::uint32_t, const Deadlock*> circles_;  // by thread
  std::vector<std::uint32_t> passed_;                 // holders from the waiter on
};

using Rows = std::map<std::tuple<std::string, std::uint32_t, std::size_t, WaitFor>, UnitHolder>;
// What threads of a unit wait for, and whether that is Python's GIL.
using Waits = std::tuple<std::string, WaitFor, bool>;

// Adds who holds locks by the last window of a View, for waits that are wanted.
template <class IsWanted>
void add_holders(Rows& rows, const View& view, const ProcessRow* process, UnitNames& names,
                 IsWanted is_wanted) {
  HolderDeeds deeds(view, names);
  const auto add = [&](const std::string& unit, const HeldWait& wait) {
    const LockHolder& holder = *wait.holder;
    if (!is_wanted(Waits(unit, wait.wait_for, holder.kind == LockKind::PythonGil))) return;
    const auto [row, is_new] =
        rows.try_emplace({unit, holder.tid, static_cast<std::size_t>(holder.kind), wait.wait_for});
    if (!is_new) {
      row->second.waiting += wait.waiters;
      return;
    }
    row->second = deeds.describe(wait);
    row->second.unit = unit;
  };
  for (const HeldWait& wait : view.waits->held) {
    add(names.of(wait.cgroup), wait);
    if (process != nullptr && wait.pid == process->pid) add(process_subject(*process), wait);
  }
}

// As it was at the end of a window; null: no holder was known.
std::unique_ptr<const View> view_at_end_of(const PeerWindow& window) {
  if (!window.holders) return nullptr;
  auto view = std::make_unique<View>();
  const std::shared_ptr<const PastHolders>& past = window.holders;
  view->waits = std::shared_ptr<const WaitWindow>(past, &past->window);
  view->deadlocks = std::shared_ptr<const std::vector<Deadlock>>(past, &past->deadlocks);
  return view;
}

// Of what is over, adds what the last look knew that told anybody. The one at which the first
// window began is about waits that lasted into it.
void add_past_holders(Rows& rows, const View& view, std::chrono::milliseconds window,
                      const Source<UnitPast>& past, UnitNames& names) {
  std::set<Waits> unknown;
  for (const UnitPast& each : past.rows) {
    if (each.for_kind >= kForCpu) continue;
    const auto wait_for = static_cast<WaitFor>(each.for_kind);
    unknown.emplace(each.unit, wait_for, false);
    if (wait_for == WaitFor::Lock) unknown.emplace(each.unit, wait_for, true);
  }
  const auto forget = [&](const Rows& known) {
    for (const auto& [key, row] : known) unknown.erase({row.unit, row.waiters_for, row.is_gil});
  };
  forget(rows);
  if (unknown.empty() || view.peer_history.empty()) return;
  const auto one_more = view.peer_history.back()->length();
  for_each_recent(view.peer_history, window + one_more, [&](const PeerWindow& each, bool /*last*/) {
    const auto then = unknown.empty() ? nullptr : view_at_end_of(each);
    if (!then) return;
    Rows found;
    add_holders(found, *then, nullptr, names,
                [&](const Waits& waits) { return unknown.contains(waits); });
    forget(found);
    rows.merge(found);
  });
}

}  // namespace

Source<UnitHolder> holders_of(const View& view, const ProcessRow* process,
                              std::chrono::milliseconds window, const Source<UnitPast>& past,
                              UnitNames& names) {
  Source<UnitHolder> source;
  Rows rows;
  std::chrono::nanoseconds length{0};
  const auto all = [](const Waits&) { return true; };
  if (view.waits) {
    length = view.waits->end_at - view.waits->begin_at;
    add_holders(rows, view, process, names, all);
  } else if (!view.peer_history.empty()) {  // of an earlier time: view_until()
    length = view.peer_history.back()->length();
    if (const auto then = view_at_end_of(*view.peer_history.back())) {
      add_holders(rows, *then, nullptr, names, all);
    }
  }
  add_past_holders(rows, view, window, past, names);
  move_rows(source, rows, length);
  return source;
}

}  // namespace offcpud
