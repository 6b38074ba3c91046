// SPDX-License-Identifier: Apache-2.0
#include "over_share_board.h"

#include <algorithm>
#include <string>

#include "runtime/logging.h"

namespace offcpud {
namespace {

constexpr std::size_t kShown = 16;
constexpr std::size_t kMostUsers = 1024;
constexpr std::chrono::minutes kForgotten{10};  // a user who comes back later is named again

std::string user_name(const std::optional<std::uint32_t>& uid) {
  return uid ? "user " + std::to_string(*uid) : "a user who is gone";
}

}  // namespace

void OverShareBoard::post(const std::vector<OverShare>& processes, std::uint64_t left_out) {
  metrics_.set_over_share(processes.size(), left_out);
  const std::lock_guard lock(mutex_);
  current_.clear();
  for (const OverShare& one : processes) {
    if (current_.size() == kShown) break;
    current_.push_back({.pid = one.tgid, .uid = one.uid, .mappings = one.mappings});
  }
  log_new_users(processes);
}

void OverShareBoard::log_new_users(const std::vector<OverShare>& processes) {
  const MonotonicTime now = clock_.now();
  std::erase_if(seen_, [now](const auto& user) { return now - user.second > kForgotten; });
  for (const OverShare& one : processes) {
    if (!seen_.contains(one.uid) && seen_.size() >= kMostUsers) continue;
    const bool is_new = seen_.insert_or_assign(one.uid, now).second;
    if (!is_new) continue;
    const auto of_user = std::ranges::count(processes, one.uid, &OverShare::uid);
    log_warning("stacks: " + user_name(one.uid) + " has more executable mappings than his share, " +
                std::to_string(of_user) + (of_user == 1 ? " process" : " processes") +
                ", such as " + std::to_string(one.tgid) +
                ": their own stacks may be incomplete, those of others are not affected");
  }
}

std::vector<OverShareStatus> OverShareBoard::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace offcpud
