// SPDX-License-Identifier: Apache-2.0
#include "reader/wait_ledger.h"

#include <algorithm>

namespace offcpud {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kFirstPenalty{10};
constexpr seconds kLongestPenalty{600};
// After this long without another wait or penalty, all is forgotten.
constexpr seconds kForgiven{600};
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kMostMounts = 16;

// Seconds of waiting: the most that can be saved up, and the growth per second.
constexpr double kAnybody = 0.4, kAnybodyRate = 0.035;
constexpr double kBlameless = 0.2, kBlamelessRate = 0.015;
constexpr double kUser = 0.3, kUserRate = 0.03;

template <class Map>
void drop_oldest(Map& map, std::size_t most) {
  while (map.size() > most) {
    map.erase(
        std::ranges::min_element(map, {}, [](const auto& entry) { return entry.second.last; }));
  }
}

}  // namespace

WaitLedger::WaitLedger(const Clock& clock)
    : clock_(clock), anybody_{kAnybody, clock.now()}, blameless_{kBlameless, clock.now()} {}

double WaitLedger::left(Allowance& allowance, MonotonicTime now, double most, double per_second) {
  const double passed = Seconds(now - allowance.at).count();
  allowance.seconds = std::min(most, allowance.seconds + passed * per_second);
  allowance.at = now;
  return allowance.seconds;
}

// A user is blameless again as soon as the allowance is full: one page that came late from swap
// must not leave all of root's processes to what others leave over.
bool WaitLedger::is_blameless(User& user, MonotonicTime now) {
  return user.penalty.times == 0 && left(user.allowance, now, kUser, kUserRate) >= kUser;
}

// The first `free` times have no consequence.
void WaitLedger::punish(Penalty& penalty, MonotonicTime now, unsigned free) {
  penalty.last = now;
  if (++penalty.times <= free) return;
  const unsigned doubled = std::min(penalty.times - free - 1, 8U);
  penalty.until = now + std::min(kFirstPenalty * (1U << doubled), kLongestPenalty);
}

void WaitLedger::forget_old(MonotonicTime now) {
  const auto is_old = [now](const Penalty& penalty) {
    return now - std::max(penalty.last, penalty.until) > kForgiven;
  };
  std::erase_if(processes_, [&](const auto& entry) { return is_old(entry.second); });
  std::erase_if(mounts_, [&](const auto& entry) { return is_old(entry.second); });
  std::erase_if(users_, [&](const auto& entry) { return is_old(entry.second.penalty); });
  drop_oldest(processes_, kMostEntries);
  drop_oldest(mounts_, kMostMounts);
  while (users_.size() > kMostEntries) users_.erase(users_.begin());
}

bool WaitLedger::needs_account() {
  const std::lock_guard lock(mutex_);
  // The process that hung may be gone the next time, so its account must be known before.
  return !users_.empty() || !processes_.empty() ||
         left(anybody_, clock_.now(), kAnybody, kAnybodyRate) <= 0;
}

std::optional<Refusal> WaitLedger::may_ask(std::uint32_t tgid, std::optional<Account> account) {
  const std::lock_guard lock(mutex_);
  const MonotonicTime now = clock_.now();
  const auto process = processes_.find(tgid);
  if (process != processes_.end() && now < process->second.until) return Refusal::Process;
  const auto user = account ? users_.find(*account) : users_.end();
  if (user != users_.end()) {
    User& one = user->second;
    if (now < one.penalty.until) return Refusal::User;
    if (left(one.allowance, now, kUser, kUserRate) <= 0) return Refusal::User;
  }
  if (left(anybody_, now, kAnybody, kAnybodyRate) > 0) return std::nullopt;
  const bool blameless = account && (user == users_.end() || is_blameless(user->second, now));
  if (blameless && left(blameless_, now, kBlameless, kBlamelessRate) > 0) return std::nullopt;
  return Refusal::Budget;
}

void WaitLedger::count_wait(std::uint32_t tgid, std::optional<Account> account,
                            std::chrono::nanoseconds waited, bool hung) {
  const std::lock_guard lock(mutex_);
  const MonotonicTime now = clock_.now();
  const double spent = Seconds(waited).count();
  // Uses up the reserve only for users who may use it. A request of another user that was admitted
  // just before the rest ran out does not.
  const auto known = account ? users_.find(*account) : users_.end();
  const bool blameless = account && (known == users_.end() || is_blameless(known->second, now));
  const bool is_kept = left(anybody_, now, kAnybody, kAnybodyRate) <= 0 && blameless;
  (void)left(blameless_, now, kBlameless, kBlamelessRate);
  (is_kept ? blameless_ : anybody_).seconds -= spent;
  if (account) {
    User& user = users_.try_emplace(*account, User{{kUser, now}, {}}).first->second;
    (void)left(user.allowance, now, kUser, kUserRate);
    user.allowance.seconds -= spent;
    user.penalty.last = now;
    // Many parties run as root, so only the allowance limits it.
    if (hung && *account != kRootAccount) punish(user.penalty, now, 1);
  }
  if (hung) punish(processes_[tgid], now, 0);
  forget_old(now);
}

void WaitLedger::shun(std::uint64_t mount) {
  const std::lock_guard lock(mutex_);
  punish(mounts_[mount], clock_.now(), 0);
  forget_old(clock_.now());
}

std::vector<std::uint64_t> WaitLedger::shunned() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> mounts;
  for (const auto& [mount, penalty] : mounts_) {
    if (clock_.now() < penalty.until) mounts.push_back(mount);
  }
  return mounts;
}

}  // namespace offcpud
