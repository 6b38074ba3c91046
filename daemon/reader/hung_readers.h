// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "reader/wait_ledger.h"

namespace offcpud {

// Counts hung readers against users. Readers are few, and the kernel keeps a hung one until what it
// waits for answers, so a user who could hang all of them would stop reading for everybody.
// Thread-safe.
class HungReaders {
 public:
  // Of all users. When this many hang, no reader is started.
  static constexpr unsigned kMost = 12;
  // For a user; root has a limit of its own.
  static constexpr unsigned kMostOfUser = 3;
  static constexpr unsigned kMostOfRoot = 6;
  // The part of kMost that is reserved for users without any.
  static constexpr unsigned kKept = 3;

  // Adds a reader that was given up; no account: unknown.
  void add(pid_t reader, std::optional<Account> account);

  // Sets which readers hang now, from this run or an earlier one.
  void update(std::span<const pid_t> hung);

  [[nodiscard]] unsigned count() const;

  // Whether this user may have one more hung reader.
  [[nodiscard]] bool has_room(Account account) const;

 private:
  mutable std::mutex mutex_;
  std::map<pid_t, std::optional<Account>> readers_;
};

}  // namespace offcpud
