// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

// Children of processes larger than this wait; most programs are smaller.
constexpr std::size_t kWaitsFrom = 512;

// CPU time for mappings of waiting processes: a tenth of the thread's, and so much at once.
constexpr int kShare = 10;
constexpr std::chrono::nanoseconds kMostAtOnce = std::chrono::milliseconds(25);

// To ask for the user of a process takes 25 us.
constexpr std::size_t kMostAsked = 16;

// More than one add_mapping() uses: two prefixes per bit of an address, for the mapping and for
// both ends of what it is put into.
constexpr std::size_t kMostPrefixes = std::size_t{3} * 2 * 52;

// An ended process with more prefixes is removed by and by; to remove one takes a microsecond.
constexpr std::size_t kRemovedAtOnce = 1'024;
constexpr std::size_t kMappingsAStep = 64;

}  // namespace

KernelRoom::KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now)
    : tables_(tables), user_of_(std::move(user_of)), refilled_(now) {}

bool KernelRoom::began(std::uint32_t tgid, std::size_t inherited) {
  forget(tgid);
  // What is left of the one that had this number must not pass for this one's.
  if (std::erase(leaving_, tgid) > 0) (void)tables_.remove_process(tgid);
  if (inherited < kWaitsFrom) return true;
  outside_[tgid] = {.size = inherited, .taken_out = false, .uid = std::nullopt};
  new_.push_back(tgid);
  return false;
}

Status KernelRoom::ended(std::uint32_t tgid) {
  forget(tgid);
  if (prefixes_of(tgid) <= kRemovedAtOnce) return tables_.remove_process(tgid);
  leaving_.push_back(tgid);
  return {};
}

void KernelRoom::forget(std::uint32_t tgid) {
  outside_.erase(tgid);
  waiting_.erase(tgid);
  returning_.erase(tgid);
  later_.erase(tgid);
  users_.erase(tgid);
}

Result<bool> KernelRoom::remove_some() {
  if (leaving_.empty()) return false;
  auto gone = tables_.remove_some(leaving_.front(), kMappingsAStep);
  // After an error the store does not know the mapping any more, so nothing is tried for ever.
  if (!gone || *gone) leaving_.pop_front();
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

void KernelRoom::take_out(std::uint32_t tgid, std::size_t size) {
  (void)tables_.remove_process(tgid);
  waiting_.erase(tgid);
  later_.erase(tgid);
  outside_[tgid] = {.size = size, .taken_out = true, .uid = uid_of(tgid)};
  returning_.push({.tgid = tgid, .left = size, .user = uid_of(tgid)});
  ++taken_out_;
}

bool KernelRoom::make_room(std::uint32_t tgid, const TakenOut& taken_out) {
  const std::size_t most = tables_.max_prefixes();
  const auto is_full = [&] { return tables_.prefixes() > most - std::min(most, kMostPrefixes); };
  for (; is_full() && !leaving_.empty(); leaving_.pop_front()) {
    (void)tables_.remove_process(leaving_.front());
  }
  if (!is_full()) return true;
  std::vector<ShareHolder> holders;
  for (const auto& [holder, held] : tables_.prefixes_by_process()) {
    holders.push_back({holder, uid_of(holder), held});
  }
  const ShareHolder wants{tgid, uid_of(tgid), prefixes_of(tgid) + 1};
  while (is_full()) {
    const std::uint32_t gives = who_gives_way(holders, wants).value_or(tgid);
    take_out(gives, gives == tgid ? wants.held : prefixes_of(gives));
    if (taken_out) taken_out(gives);
    if (gives == tgid) return false;
    std::erase_if(holders, [&](const ShareHolder& holder) { return holder.tgid == gives; });
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
  if (!is_new) return waiting_.lower(tgid, begin);
  waiting_.push({.tgid = tgid, .left = kWaitsFrom, .from = begin, .user = uid_of(tgid)});
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
    if (one == outside_.end() || one->second.taken_out) continue;
    waiting_.push({.tgid = tgid, .left = one->second.size, .user = uid_of(tgid)});
    --left;
  }
}

std::optional<KernelRoom::Entering> KernelRoom::next_waiting(MonotonicTime now,
                                                             const EntryTurns::May& may) {
  budget_ = std::min(budget_ + (now - refilled_) / kShare, kMostAtOnce);
  refilled_ = now;
  if (budget_ <= std::chrono::nanoseconds(0)) return std::nullopt;
  queue_new();
  const bool may_return = tables_.prefixes() < tables_.max_prefixes() / 2;
  EntryTurns* queues[] = {&waiting_, &returning_};
  if (return_is_next_) std::swap(queues[0], queues[1]);
  for (EntryTurns* const queue : queues) {
    if (queue == &returning_ && !may_return) continue;
    auto next = queue->pop(may);
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
