// SPDX-License-Identifier: Apache-2.0
#include "sampler/kernel_room.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

// Children of processes larger than this wait; most programs are smaller.
constexpr std::size_t kWaitsFrom = 512;

// Mappings of waiting processes that may be added: a tenth of the thread's time, at 5 us each.
constexpr double kPerSecond = 20'000;
constexpr double kMostAtOnce = 5'000;

// More than one add_mapping() uses: two prefixes per bit of an address, for the mapping and for
// both ends of what it is put into.
constexpr std::size_t kMostPrefixes = std::size_t{3} * 2 * 52;

}  // namespace

KernelRoom::KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now)
    : tables_(tables), user_of_(std::move(user_of)), refilled_(now) {}

bool KernelRoom::began(std::uint32_t tgid, std::size_t inherited) {
  ended(tgid);
  if (inherited < kWaitsFrom) return true;
  outside_[tgid] = {.size = inherited, .taken_out = false, .uid = std::nullopt};
  return false;
}

void KernelRoom::ended(std::uint32_t tgid) {
  if (entering_ && entering_->tgid == tgid) entering_.reset();
  outside_.erase(tgid);
  users_.erase(tgid);
}

std::optional<std::uint32_t> KernelRoom::uid_of(std::uint32_t tgid) {
  const auto [user, is_new] = users_.try_emplace(tgid);
  if (is_new) user->second = user_of_(tgid);
  return user->second;
}

void KernelRoom::take_out(std::uint32_t tgid, std::size_t size) {
  (void)tables_.remove_process(tgid);
  if (entering_ && entering_->tgid == tgid) entering_.reset();
  outside_[tgid] = {.size = size, .taken_out = true, .uid = uid_of(tgid)};
  ++taken_out_;
}

bool KernelRoom::make_room(std::uint32_t tgid, const TakenOut& taken_out) {
  const std::size_t most = tables_.max_prefixes();
  const auto is_full = [&] { return tables_.prefixes() > most - std::min(most, kMostPrefixes); };
  if (!is_full()) return true;
  std::vector<ShareHolder> holders;
  for (const auto& [holder, held] : tables_.prefixes_by_process()) {
    holders.push_back({holder, uid_of(holder), held});
  }
  const auto held_by = [&](std::uint32_t holder) {
    const auto found = std::ranges::find(holders, holder, &ShareHolder::tgid);
    return found == holders.end() ? std::uint64_t{0} : found->held;
  };
  const ShareHolder wants{tgid, uid_of(tgid), held_by(tgid) + 1};
  while (is_full()) {
    const std::uint32_t gives = who_gives_way(holders, wants).value_or(tgid);
    take_out(gives, gives == tgid ? wants.held : held_by(gives));
    if (taken_out) taken_out(gives);
    if (gives == tgid) return false;
    std::erase_if(holders, [&](const ShareHolder& holder) { return holder.tgid == gives; });
  }
  return true;
}

void KernelRoom::put_rest(const Entering& entering) {
  if (admits(entering.tgid)) entering_ = entering;
}

std::optional<KernelRoom::Entering> KernelRoom::next_waiting(MonotonicTime now) {
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  refilled_ = now;
  budget_ = std::min(budget_ + seconds * kPerSecond, kMostAtOnce);
  if (budget_ <= 0) return std::nullopt;
  if (entering_) return std::exchange(entering_, std::nullopt);
  if (outside_.empty()) return std::nullopt;
  const bool has_half = tables_.prefixes() < tables_.max_prefixes() / 2;
  const auto next = std::ranges::min_element(outside_, {}, [&](const auto& entry) {
    const Outside& one = entry.second;
    return one.taken_out && !has_half ? SIZE_MAX : one.size;
  });
  if (next->second.taken_out && !has_half) return std::nullopt;
  const std::uint32_t tgid = next->first;
  outside_.erase(next);
  return Entering{.tgid = tgid};
}

std::vector<OverShare> KernelRoom::over_share() const {
  std::vector<OverShare> found;
  for (const auto& [tgid, one] : outside_) {
    if (one.taken_out) found.push_back({tgid, one.uid, one.size});
  }
  return found;
}

}  // namespace offcpud
