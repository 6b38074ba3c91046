// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "reader/wait_ledger.h"

namespace offcpud {

// In whose name the readers hang that were given up. There are few of them, and the kernel keeps
// each for as long as whoever it waits for likes: a user who could have all of them would end the
// reading for everybody, however rarely it is asked about. Thread-safe.
class HungReaders {
 public:
  // Beyond that no reader is started.
  static constexpr unsigned kMost = 12;
  // Of one user. Whatever runs as root is not one's.
  static constexpr unsigned kMostOfUser = 3;
  static constexpr unsigned kMostOfRoot = 6;
  // Of them all, these are kept for users who have none.
  static constexpr unsigned kKept = 3;

  // This one was given up; nothing: for nobody that is known.
  void add(pid_t reader, std::optional<Account> account);

  // Those that have not ended, of this run of the daemon or of another one.
  void update(std::span<const pid_t> hung);

  [[nodiscard]] unsigned count() const;

  // Whether another reader may come to hang for this user.
  [[nodiscard]] bool has_room(Account account) const;

 private:
  mutable std::mutex mutex_;
  std::map<pid_t, std::optional<Account>> readers_;
};

}  // namespace offcpud
