// SPDX-License-Identifier: Apache-2.0
#include "pipeline/past_holders.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "pipeline/stall_peers.h"

namespace offcpud {
namespace {

// The waits of one cgroup for one holder.
struct Group {
  const HeldWait* first = nullptr;
  bool deadlocked = false;
  std::uint32_t waiters = 0;

  [[nodiscard]] auto rank() const { return std::pair(deadlocked, waiters); }
};

std::vector<Group> groups_of(const WaitWindow& window, const StallPeers& peers) {
  using Pair = std::tuple<std::string_view, WaitFor, std::string_view, bool>;
  std::map<std::tuple<Pair, std::uint32_t, LockKind>, Group> all;
  for (const HeldWait& wait : window.held) {
    const bool is_gil = wait.holder->kind == LockKind::PythonGil;
    const Pair pair(wait.cgroup, wait.wait_for, wait.holder_cgroup, is_gil);
    Group& group = all[{pair, wait.holder->tid, wait.holder->kind}];
    if (group.first == nullptr) group.first = &wait;
    group.deadlocked = group.deadlocked || peers.is_deadlocked(wait);
    ++group.waiters;
  }
  std::map<Pair, Group> largest;
  for (const auto& [key, group] : all) {
    Group& most = largest[std::get<Pair>(key)];
    if (most.first == nullptr || group.rank() > most.rank()) most = group;
  }
  std::vector<Group> groups;
  groups.reserve(largest.size());
  for (const auto& [pair, group] : largest) groups.push_back(group);
  std::ranges::stable_sort(groups, std::ranges::greater(), &Group::rank);
  if (groups.size() > PastHolders::kMost) groups.resize(PastHolders::kMost);
  return groups;
}

// By thread. One for whom a holder waits stands for no waiter of its own.
std::map<std::uint32_t, HeldWait> waits_of(const WaitWindow& window, const StallPeers& peers) {
  std::map<std::uint32_t, HeldWait> waits;
  const std::vector<Group> groups = groups_of(window, peers);
  for (const Group& group : groups) {
    waits.emplace(group.first->tid, *group.first).first->second.waiters = group.waiters;
  }
  for (const Group& group : groups) {
    const HeldWait* at = group.first;
    for (std::size_t i = 0; i < PastHolders::kMostHops; ++i) {
      at = window.find_held(at->holder->tid);
      if (at == nullptr) break;
      const auto [added, is_new] = waits.emplace(at->tid, *at);
      if (is_new) added->second.waiters = 0;
    }
  }
  return waits;
}

// What the thread waited for when the window ended, and on whom.
void add_deed(PastHolders& past, const WaitWindow& window, const StallPeers& peers,
              const LockHolder& holder) {
  const ExaminedBlock* const block = window.lasting_block_of(holder.tid);
  if (block == nullptr) return;
  auto wait = std::make_shared<ExaminedWait>();
  wait->wait_for = block->wait->wait_for;
  wait->site = block->wait->site;
  wait->certain = block->wait->certain;
  const PeerWaits* const on = peers.of(holder.process.local_tgid, wait->wait_for);
  past.window.blocks.push_back(
      {.tid = block->tid, .since_ns = block->since_ns, .lasts = true, .wait = std::move(wait)});
  const auto is_kept = [on](const PeerWaits& row) {
    return row.pid == on->pid && row.wait_for == on->wait_for;
  };
  if (on == nullptr || std::ranges::any_of(past.window.peers, is_kept)) return;
  past.window.peers.push_back(*on);
}

std::vector<Deadlock> deadlocks_with(const std::set<std::uint32_t>& threads,
                                     const std::vector<Deadlock>* deadlocks) {
  std::vector<Deadlock> kept;
  if (deadlocks == nullptr) return kept;
  for (const Deadlock& deadlock : *deadlocks) {
    const bool has_one = std::ranges::any_of(
        deadlock, [&](const HeldWait& wait) { return threads.contains(wait.tid); });
    if (has_one && deadlock.size() <= PastHolders::kMostOfDeadlock) kept.push_back(deadlock);
  }
  return kept;
}

std::size_t bytes_of(const HeldWait& wait) {
  return sizeof(HeldWait) + sizeof(LockHolder) + wait.cgroup.size() + wait.holder_cgroup.size();
}

}  // namespace

std::size_t PastHolders::bytes() const {
  std::size_t bytes = sizeof(PastHolders);
  for (const HeldWait& wait : window.held) bytes += bytes_of(wait);
  for (const Deadlock& deadlock : deadlocks) {
    for (const HeldWait& wait : deadlock) bytes += bytes_of(wait);
  }
  for (const ExaminedBlock& block : window.blocks) {
    bytes += sizeof(ExaminedBlock) + sizeof(ExaminedWait) + block.wait->site.size();
  }
  for (const PeerWaits& row : window.peers) {
    bytes += sizeof(PeerWaits) + row.cgroup.size() + row.on.size() + row.peer_cgroup.size();
  }
  return bytes;
}

std::shared_ptr<const PastHolders> past_holders(const std::shared_ptr<const WaitWindow>& window,
                                                const std::vector<Deadlock>* deadlocks) {
  if (window->held.empty()) return nullptr;
  const StallPeers peers(window, deadlocks);
  auto past = std::make_shared<PastHolders>();
  past->window.begin = window->begin;
  past->window.begin_at = window->begin_at;
  past->window.end_at = window->end_at;
  std::set<std::uint32_t> holders;
  for (auto& [tid, wait] : waits_of(*window, peers)) {
    if (holders.insert(wait.holder->tid).second) add_deed(*past, *window, peers, *wait.holder);
    past->window.held.push_back(std::move(wait));
  }
  std::ranges::sort(past->window.blocks, {}, &ExaminedBlock::tid);
  past->deadlocks = deadlocks_with(holders, deadlocks);
  return past;
}

}  // namespace offcpud
