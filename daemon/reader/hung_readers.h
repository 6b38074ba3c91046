// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "reader/wait_ledger.h"

namespace offcpud {

// Which users the hung readers are charged to. Readers are few, and the kernel keeps a hung one as
// long as whoever it waits for likes: a user who could hang them all would stop the reading for
// everybody, however rarely he is asked about. Thread-safe.
class HungReaders {
 public:
  // At most; then none is started.
  static constexpr unsigned kMost = 12;
  // Per user; root has a limit of its own.
  static constexpr unsigned kMostOfUser = 3;
  static constexpr unsigned kMostOfRoot = 6;
  // Of kMost, reserved for users who have none.
  static constexpr unsigned kKept = 3;

  // Adds a reader that was given up; no account: not known.
  void add(pid_t reader, std::optional<Account> account);

  // Sets which readers still hang, from this run or an earlier one.
  void update(std::span<const pid_t> hung);

  [[nodiscard]] unsigned count() const;

  // Whether this user may hang one more reader.
  [[nodiscard]] bool has_room(Account account) const;

 private:
  mutable std::mutex mutex_;
  std::map<pid_t, std::optional<Account>> readers_;
};

}  // namespace offcpud
