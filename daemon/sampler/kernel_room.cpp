// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

// Entries that one event may write or remove; to do so for one takes a microsecond. Most programs
// have fewer.
constexpr std::size_t kMostAtOnce = 1'024;

// So many of each process are written at once in any case in a second: most programs that start
// have no more, and nobody gains by making the daemon write them.
constexpr std::size_t kAlwaysAtOnce = 64;
constexpr std::chrono::seconds kBetweenCounts{1};

// CPU time for entries: a tenth of the thread's.
constexpr int kShare = 10;
// So much of it is for those that wait.
constexpr std::chrono::nanoseconds kForWaiting = KernelRoom::kSaved / 2;

// To ask for the user of a process takes 25 us.
constexpr std::size_t kMostAsked = 16;

// More than one add_mapping() uses: two prefixes per bit of an address, for the mapping and for
// both ends of what it is put into.
constexpr std::size_t kMostPrefixes = std::size_t{3} * 2 * 52;

constexpr std::size_t kMappingsAStep = 16;  // removed; of odd sizes it takes a millisecond

}  // namespace

KernelRoom::KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now)
    : tables_(tables), user_of_(std::move(user_of)), refilled_(now), used_since_(now) {}

bool KernelRoom::began(std::uint32_t tgid, std::size_t entries) {
  (void)ended(tgid);  // what the one that had this number left must not pass for this one's
  const bool leaves = leaving_.contains(tgid);
  const bool at_once = entries <= kMostAtOnce && budget_ > kForWaiting;
  if (!leaves && (entries == 0 || at_once)) return true;
  const Outside one{.size = entries, .taken_out = false, .uid = std::nullopt};
  outside_[tgid] = one;
  if (!leaves) queue(tgid, one);
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
  waiting_.erase(tgid);
  returning_.erase(tgid);
  later_.erase(tgid);
  users_.erase(tgid);
}

// Execution of another program does not begin a new count.
bool KernelRoom::has_time_for(std::uint32_t tgid, std::size_t entries) {
  if (entries == 0) return true;
  if (entries > kMostAtOnce) return false;
  if (budget_ > kForWaiting) return true;
  return (used_[tgid] += entries) <= kAlwaysAtOnce;
}

bool KernelRoom::has_time(MonotonicTime now) {
  if (now - used_since_ >= kBetweenCounts) {
    used_.clear();
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
  const auto tgid = leaving_.pop();
  if (!tgid) return false;
  auto gone = tables_.remove_some(*tgid, kMappingsAStep);
  if (prefixes_of(*tgid) > 0) {
    leaving_.push(*tgid);
  } else if (const auto one = outside_.find(*tgid); one != outside_.end()) {
    queue(*tgid, one->second);
  }
  if (!gone) return std::move(gone).error();
  return true;
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
  if (!one.taken_out) return new_.push_back(tgid);
  returning_.push({.tgid = tgid, .left = one.size, .user = one.uid});
}

void KernelRoom::leave(std::uint32_t tgid, const Outside& one) {
  waiting_.erase(tgid);
  later_.erase(tgid);
  outside_[tgid] = one;
  if (prefixes_of(tgid) > 0) return leaving_.push(tgid);
  queue(tgid, one);
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
    if (leaving_.size() > 0) {
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
  if (is_new) return new_.push_back(tgid);
  waiting_.lower(tgid, begin);
}

void KernelRoom::put_rest(const Entering& entering) {
  if (!admits(entering.tgid)) return;
  later_[entering.tgid] = entering.from;
  waiting_.push(entering);
}

// Most of those that began have ended by now: they are not asked for their users.
void KernelRoom::queue_new() {
  for (std::size_t left = kMostAsked; left > 0 && !new_.empty(); new_.pop_front()) {
    const std::uint32_t tgid = new_.front();
    const auto one = outside_.find(tgid);
    const auto later = later_.find(tgid);
    if (one != outside_.end()) {
      if (one->second.taken_out || leaving_.contains(tgid)) continue;
      waiting_.push({.tgid = tgid, .left = one->second.size, .user = uid_of(tgid)});
    } else if (later != later_.end()) {
      // How many there are is not known before its turn.
      waiting_.push({.tgid = tgid, .left = 1, .from = later->second, .user = uid_of(tgid)});
    } else {
      continue;
    }
    --left;
  }
}

std::optional<KernelRoom::Entering> KernelRoom::next_waiting() {
  queue_new();
  const bool may_return = tables_.prefixes() < tables_.max_prefixes() / 2;
  EntryTurns* queues[] = {&waiting_, &returning_};
  if (return_is_next_) std::swap(queues[0], queues[1]);
  for (EntryTurns* const queue : queues) {
    if (queue == &returning_ && !may_return) continue;
    auto next = queue->pop();
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
