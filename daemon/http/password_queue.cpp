// SPDX-License-Identifier: Apache-2.0
#include "http/password_queue.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

constexpr std::chrono::duration<double> kHalfLife{60};
// How many wrong passwords an address may send after a right one.
constexpr double kTrust = 8;
// For a dropped password, right or wrong: a flood has debts before the first comparison.
constexpr double kGivenUpDebt = 1.0 / 16;
// A smaller debt counts as none.
constexpr double kForgotten = 0.1;
// Enough: comparisons are slow, so only a few hundred accounts can get a debt before old
// debts are forgotten.
constexpr std::size_t kMostAccounts = 4096;

// The network that usually belongs to one party: /24 of IPv4, /48 of IPv6 (RFC 6177), or this host.
// `peer`: the address in network order (peer_name); other names are their own network.
std::string network_of(const std::string& peer) {
  constexpr std::size_t kIpv4 = 4, kIpv4Network = 3, kIpv6 = 8, kIpv6Network = 6;
  constexpr char kLoopback = 127;
  if (peer.starts_with("uid ")) return peer;
  if (peer.size() == kIpv4) return peer.substr(0, peer.front() == kLoopback ? 1 : kIpv4Network);
  return peer.size() == kIpv6 ? peer.substr(0, kIpv6Network) : peer;
}

std::string network_account(const std::string& peer) {
  return "network " + network_of(peer);
}

std::string peer_account(const std::string& peer) {
  return "peer " + peer;
}

// The length keeps peer and user apart, whatever their bytes are.
std::string user_account(const std::string& peer, const std::string& user) {
  return "user " + std::to_string(peer.size()) + " " + peer + user;
}

}  // namespace

double PasswordQueue::debt_of(const std::string& account, MonotonicTime now) const {
  const auto found = accounts_.find(account);
  if (found == accounts_.end()) return 0;
  const std::chrono::duration<double> age = now - found->second.since;
  const double debt = found->second.debt * std::exp2(-age / kHalfLife);
  return (debt < kForgotten ? 0 : debt) - (found->second.was_right ? kTrust : 0);
}

PasswordQueue::Debts PasswordQueue::debts_of(const PasswordJob& job, MonotonicTime now) const {
  return {.peer = debt_of(peer_account(job.peer), now),
          .network = debt_of(network_account(job.peer), now),
          .user = debt_of(user_account(job.peer, job.credentials.user), now)};
}

PasswordJob PasswordQueue::take(std::size_t place) {
  PasswordJob job = std::move(waiting_[place].job);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
  return job;
}

std::optional<PasswordJob> PasswordQueue::push(PasswordJob job, MonotonicTime now) {
  waiting_.push_back({std::move(job), next_number_++});
  if (waiting_.size() <= most_) return std::nullopt;
  PasswordJob given_up = take(place_of_worst(now));
  const std::string& peer = given_up.peer;
  for (const std::string& name :
       {peer_account(peer), user_account(peer, given_up.credentials.user)}) {
    // A flood brings thousands of accounts; they do not replace those of compared passwords.
    if (accounts_.size() < kMostAccounts || accounts_.contains(name)) {
      add_debt(accounts_[name], kGivenUpDebt, now);
    }
  }
  return given_up;
}

// Compares the number of jobs of the peer, its debts, the number of jobs of the user name, its
// debt, and the age: the newest is the worst, as it has waited for the shortest time.
std::size_t PasswordQueue::place_of_worst(MonotonicTime now) const {
  std::map<std::string, std::size_t> of_peer;
  std::map<std::pair<std::string, std::string>, std::size_t> of_user;
  for (const auto& [job, number] : waiting_) {
    ++of_peer[job.peer];
    ++of_user[{job.peer, job.credentials.user}];
  }
  using Badness = std::tuple<std::size_t, double, double, std::size_t, double, std::uint64_t>;
  std::vector<Badness> badness;
  for (const auto& [job, number] : waiting_) {
    const Debts debts = debts_of(job, now);
    badness.emplace_back(of_peer.at(job.peer), debts.peer, debts.network,
                         of_user.at({job.peer, job.credentials.user}), debts.user, number);
  }
  return static_cast<std::size_t>(std::ranges::max_element(badness) - badness.begin());
}

bool PasswordQueue::trusts(const std::string& peer, MonotonicTime now) const {
  return debt_of(peer_account(peer), now) < 0;
}

// pop() takes trusted peers first, as their debt is below zero.
bool PasswordQueue::next_is_trusted(MonotonicTime now) const {
  return std::ranges::any_of(waiting_,
                             [&](const Waiting& each) { return trusts(each.job.peer, now); });
}

PasswordJob PasswordQueue::pop(MonotonicTime now) {
  const auto next = std::ranges::min_element(waiting_, {}, [&](const Waiting& each) {
    return std::tuple(debts_of(each.job, now), each.number);
  });
  return take(static_cast<std::size_t>(next - waiting_.begin()));
}

void PasswordQueue::add_debt(Account& account, double amount, MonotonicTime now) {
  const std::chrono::duration<double> age = now - account.since;
  account.debt = account.debt * std::exp2(-age / kHalfLife) + amount;
  account.since = now;
}

// If there is no room, a new account replaces the one that has not changed for longest, among those
// without a right password as long as there are any.
PasswordQueue::Account& PasswordQueue::account(const std::string& name) {
  if (accounts_.size() >= kMostAccounts && !accounts_.contains(name)) {
    accounts_.erase(std::ranges::min_element(accounts_, {}, [](const auto& entry) {
      return std::tuple(entry.second.was_right, entry.second.since);
    }));
  }
  return accounts_[name];
}

void PasswordQueue::settle(const std::string& peer, const std::string& user, bool right,
                           MonotonicTime now) {
  if (right) {
    account(peer_account(peer)).was_right = true;
    return;
  }
  for (const std::string& name :
       {peer_account(peer), network_account(peer), user_account(peer, user)}) {
    add_debt(account(name), 1, now);
  }
}

}  // namespace offcpud
