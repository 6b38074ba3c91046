// SPDX-License-Identifier: Apache-2.0
#include "reader/hung_readers.h"

#include <algorithm>

namespace offcpud {

void HungReaders::add(pid_t reader, std::optional<Account> account) {
  const std::lock_guard lock(mutex_);
  readers_[reader] = account;
}

void HungReaders::update(std::span<const pid_t> hung) {
  const std::lock_guard lock(mutex_);
  std::erase_if(readers_, [hung](const auto& one) { return !std::ranges::count(hung, one.first); });
  for (const pid_t reader : hung) readers_.try_emplace(reader);
}

unsigned HungReaders::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(readers_.size());
}

bool HungReaders::has_room(Account account) const {
  const std::lock_guard lock(mutex_);
  const auto own =
      std::ranges::count_if(readers_, [account](const auto& one) { return one.second == account; });
  if (own == 0) return true;
  return own < (account == kRootAccount ? kMostOfRoot : kMostOfUser) &&
         readers_.size() + kKept < kMost;
}

}  // namespace offcpud
