// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

// The entries that one event may write or remove at once, at a microsecond each. Most programs have
// fewer.
constexpr std::size_t kMostAtOnce = 1'024;

// The entries of one process, and of all processes of one user (4 ms), that are written at once in
// a second in any case. Most starting programs have no more, and nobody gains by making the daemon
// write them. Further ones wait for their turns.
constexpr std::size_t kAlwaysAtOnce = 64, kAlwaysAtOnceOfUser = 4'096;
constexpr std::chrono::seconds kBetweenCounts{1};

// CPU time for entries: a tenth of the thread's.
constexpr int kShare = 10;
// The part of it for those that wait.
constexpr std::chrono::nanoseconds kForWaiting = KernelRoom::kSaved / 2;

// To ask for the user of a process takes 25 us.
constexpr std::size_t kMostUsersAsked = 16;

// How many users of ended processes, or of ones that executed something else, are remembered: as
// many as a large host has processes. Attackers can make it forget them, which costs 25 us each.
constexpr std::size_t kEarlierUsers = 16'384;

// More than one add_mapping() uses: two prefixes per bit of an address, for the mapping and for
// both ends of what it is put into.
constexpr std::size_t kMostPrefixes = std::size_t{3} * 2 * 52;

constexpr std::size_t kMappingsAStep = 16;  // removed; of odd sizes it takes a millisecond

// One of this many steps removes what nobody waits for.
constexpr unsigned kLeavingEvery = 4;

}  // namespace

KernelRoom::KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now)
    : tables_(tables), user_of_(std::move(user_of)), refilled_(now), used_since_(now) {}

bool KernelRoom::began(std::uint32_t tgid, std::size_t entries) {
  (void)ended(tgid);  // what an earlier process of this number left must not pass for this one's
  const bool leaves = leaving_.contains(tgid);  // ended() has put it there
  const bool at_once = entries <= kMostAtOnce && budget_ > kForWaiting;
  if (!leaves && (entries == 0 || at_once)) return true;
  const Outside one{.size = entries, .taken_out = false, .uid = std::nullopt};
  outside_[tgid] = one;
  if (leaves) {
    leaving_.erase(tgid);
    push_replaced(tgid);
  } else {
    queue(tgid, one);
  }
  return false;
}

Status KernelRoom::ended(std::uint32_t tgid) {
  forget(tgid);
  if (!has_time_for(tgid, prefixes_of(tgid))) {
    leaving_.push(tgid);
    return {};
  }
  leaving_.erase(tgid);
  return tables_.remove_process(tgid);
}

void KernelRoom::forget(std::uint32_t tgid) {
  outside_.erase(tgid);
  new_.erase(tgid);
  waiting_.erase(tgid);
  returning_.erase(tgid);
  later_.erase(tgid);
  replaced_.erase(tgid);
  const auto user = users_.find(tgid);
  if (user == users_.end()) return;
  if (earlier_users_.size() >= kEarlierUsers) earlier_users_.clear();
  if (user->second) earlier_users_[tgid] = user->second;
  users_.erase(user);
}

// Executing another program does not start the count again.
bool KernelRoom::has_time_for(std::uint32_t tgid, std::size_t entries) {
  if (entries == 0) return true;
  if (entries > kMostAtOnce) return false;
  if (budget_ > kForWaiting) return true;
  if ((used_[tgid] += entries) > kAlwaysAtOnce) return false;
  const ShareOwner user = expected_user(tgid).value_or(std::nullopt);
  return (used_by_users_[user] += entries) <= kAlwaysAtOnceOfUser;
}

bool KernelRoom::has_time(MonotonicTime now) {
  if (now - used_since_ >= kBetweenCounts) {
    used_.clear();
    used_by_users_.clear();
    used_since_ = now;
  }
  const auto earned = (now - std::exchange(refilled_, now)) / kShare;
  if (budget_ < kSaved) budget_ = std::min<std::chrono::nanoseconds>(budget_ + earned, kSaved);
  return budget_ > std::chrono::nanoseconds(0);
}

void KernelRoom::spend(When when, std::chrono::nanoseconds cpu) {
  const std::chrono::nanoseconds least =
      when == When::AtOnce ? std::min(budget_, std::chrono::nanoseconds(0)) : budget_ - cpu;
  budget_ = std::max(budget_ - cpu, least);
}

Result<bool> KernelRoom::remove_some() {
  const auto tgid = next_to_remove();
  if (!tgid) return false;
  auto gone = tables_.remove_some(*tgid, kMappingsAStep);
  const auto one = outside_.find(*tgid);
  if (prefixes_of(*tgid) == 0) {
    if (one != outside_.end()) queue(*tgid, one->second);
  } else if (one != outside_.end() && !one->second.taken_out) {
    push_replaced(*tgid);
  } else {
    leaving_.push(*tgid);
  }
  if (!gone) return std::move(gone).error();
  return true;
}

std::optional<std::uint32_t> KernelRoom::next_to_remove() {
  const bool of_leaving = removals_++ % kLeavingEvery == kLeavingEvery - 1;
  if (replaced_.empty() || (of_leaving && leaving_.size() > 0)) return leaving_.pop();
  return replaced_.pop()->tgid;
}

// Looks up no user here: users who have waited before have turns of their own, and all others share
// one.
void KernelRoom::push_replaced(std::uint32_t tgid) {
  replaced_.push({.tgid = tgid,
                  .left = prefixes_of(tgid),
                  .user = expected_user(tgid).value_or(std::nullopt)});
}

std::size_t KernelRoom::prefixes_of(std::uint32_t tgid) const {
  const auto found = tables_.prefixes_by_process().find(tgid);
  return found == tables_.prefixes_by_process().end() ? 0 : found->second;
}

std::optional<std::uint32_t> KernelRoom::uid_of(std::uint32_t tgid) {
  const auto [user, is_new] = users_.try_emplace(tgid);
  if (is_new) user->second = user_of_(tgid);
  return user->second;
}

void KernelRoom::queue(std::uint32_t tgid, const Outside& one) {
  if (!one.taken_out) return queue_to_wait(*waiting_entry(tgid));
  returning_.push({.tgid = tgid, .left = one.size, .user = one.uid});
}

void KernelRoom::leave(std::uint32_t tgid, const Outside& one) {
  new_.erase(tgid);
  waiting_.erase(tgid);
  later_.erase(tgid);
  outside_[tgid] = one;
  if (prefixes_of(tgid) == 0) return queue(tgid, one);
  if (one.taken_out) return leaving_.push(tgid);
  push_replaced(tgid);
}

void KernelRoom::put_anew(std::uint32_t tgid) {
  if (!admits(tgid)) return;
  leave(tgid, {.size = prefixes_of(tgid), .taken_out = false, .uid = std::nullopt});
}

void KernelRoom::take_out(std::uint32_t tgid, std::size_t size) {
  leave(tgid, {.size = size, .taken_out = true, .uid = uid_of(tgid)});
  ++taken_out_;
}

std::vector<ShareHolder> KernelRoom::holders() {
  std::vector<ShareHolder> found;
  for (const auto& [holder, held] : tables_.prefixes_by_process()) {
    found.push_back({holder, uid_of(holder), held});
  }
  return found;
}

bool KernelRoom::make_room(std::uint32_t tgid, const TakenOut& taken_out) {
  const std::size_t most = tables_.max_prefixes();
  const auto is_full = [&] { return tables_.prefixes() > most - std::min(most, kMostPrefixes); };
  while (is_full()) {
    if (leaving_.size() > 0 || !replaced_.empty()) {
      (void)remove_some();
      continue;
    }
    const ShareHolder wants{tgid, uid_of(tgid), prefixes_of(tgid) + 1};
    const std::uint32_t gives = who_gives_way(holders(), wants).value_or(tgid);
    take_out(gives, gives == tgid ? wants.held : prefixes_of(gives));
    if (taken_out) taken_out(gives);
    if (gives == tgid) return false;
  }
  return true;
}

bool KernelRoom::puts_now(std::uint32_t tgid, std::uint64_t begin) const {
  const auto later = later_.find(tgid);
  return later == later_.end() || begin < later->second;
}

void KernelRoom::put_later(std::uint32_t tgid, std::uint64_t begin) {
  if (!admits(tgid)) return;
  const auto [later, is_new] = later_.try_emplace(tgid, begin);
  later->second = std::min(later->second, begin);
  if (is_new) return queue_to_wait(*waiting_entry(tgid));
  waiting_.lower(tgid, begin);
}

void KernelRoom::put_rest(const Entering& entering) {
  if (!admits(entering.tgid)) return;
  later_[entering.tgid] = entering.from;
  waiting_.push(entering);
}

// What is to be put in for a waiting process. Nothing: it does not wait.
std::optional<KernelRoom::Entering> KernelRoom::waiting_entry(std::uint32_t tgid) const {
  if (const auto one = outside_.find(tgid); one != outside_.end()) {
    return Entering{.tgid = tgid, .left = one->second.size};
  }
  const auto later = later_.find(tgid);
  if (later == later_.end()) return std::nullopt;
  // The number of mappings is not known before its turn.
  return Entering{.tgid = tgid, .left = 1, .from = later->second};
}

// Meanwhile a process may have changed its user, or its number may belong to another process. So
// the user is looked up again when the process has its turn (pop_waiting()).
std::optional<ShareOwner> KernelRoom::expected_user(std::uint32_t tgid) const {
  if (const auto user = users_.find(tgid); user != users_.end()) return user->second;
  if (const auto user = earlier_users_.find(tgid); user != earlier_users_.end()) {
    return user->second;
  }
  return std::nullopt;
}

// Does not look up the user of a process that executes again and again, which would delay look-ups
// of others.
void KernelRoom::queue_to_wait(const Entering& entering) {
  const auto user = expected_user(entering.tgid);
  if (!user) return new_.push(entering.tgid);
  Entering known = entering;
  known.user = *user;
  waiting_.push(known);
}

// Most new processes have ended by now; their users are not looked up. The last and the first one
// take turns: thousands that came before do not delay the newest, and newer ones do not keep the
// others waiting for good.
void KernelRoom::queue_new() {
  const bool are_many = new_.size() > kMostUsersAsked;
  for (std::size_t asked = 0; asked < kMostUsersAsked; ++asked) {
    const auto tgid = are_many && asked % 2 == 0 ? new_.pop_last() : new_.pop();
    if (!tgid) return;
    auto entering = waiting_entry(*tgid);
    if (!entering) continue;
    entering->user = uid_of(*tgid);
    waiting_.push(*entering);
  }
}

std::optional<KernelRoom::Entering> KernelRoom::pop_waiting() {
  for (std::size_t asked = 0; asked < kMostUsersAsked; ++asked) {
    auto next = waiting_.pop();
    if (!next) return std::nullopt;
    const ShareOwner user = uid_of(next->tgid);
    if (user == next->user) return next;
    next->user = user;
    waiting_.push(*next);
  }
  return std::nullopt;
}

std::optional<KernelRoom::Entering> KernelRoom::next_waiting() {
  queue_new();
  const bool may_return = tables_.prefixes() < tables_.max_prefixes() / 2;
  EntryTurns* queues[] = {&waiting_, &returning_};
  if (return_is_next_) std::swap(queues[0], queues[1]);
  for (EntryTurns* const queue : queues) {
    if (queue == &returning_ && !may_return) continue;
    auto next = queue == &waiting_ ? pop_waiting() : queue->pop();
    if (!next) continue;
    return_is_next_ = queue == &waiting_;
    outside_.erase(next->tgid);
    later_.erase(next->tgid);
    return next;
  }
  return std::nullopt;
}

std::vector<OverShare> KernelRoom::over_share() const {
  std::vector<OverShare> found;
  for (const auto& [tgid, one] : outside_) {
    if (one.taken_out) found.push_back({tgid, one.uid, one.size});
  }
  return found;
}

}  // namespace offcpud
