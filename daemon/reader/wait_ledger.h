// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace offcpud {

// A user of this host, against whom the waits for a process count; 0 is root.
using Account = std::uint32_t;
inline constexpr Account kRootAccount = 0;
// Stands for the users of processes that ended before they could be asked: (uid_t)-1, which no user
// has.
inline constexpr Account kUnknownAccount = 0xffffffff;

// Why a request is refused now.
enum class Refusal : std::uint8_t {
  Process,  // its process caused long waits lately
  User,     // its user's processes caused long waits lately
  Mount,    // its file system caused long waits lately
  Budget,   // all processes together caused too much waiting
  Readers,  // too many readers hang, or none can be started
  Copies,   // copies of other files take all the memory for copies
  Size,     // the file needs a copy, but is too large
};
inline constexpr std::array<const char*, 7> kRefusalNames = {"process", "user",   "mount", "budget",
                                                             "readers", "copies", "size"};

// Accounts for waits, and refuses requests, so that any number of hostile processes together cost
// at most a twentieth of the time on average. Two thirds of that are for everybody; a third is
// reserved for users whose processes have caused no long waits lately. Refused requests are
// admitted again later, at growing intervals. Thread-safe.
class WaitLedger {
 public:
  explicit WaitLedger(const Clock& clock);

  // Whether may_ask() needs to know the account.
  [[nodiscard]] bool needs_account();

  // Nothing: go ahead.
  std::optional<Refusal> may_ask(std::uint32_t tgid, std::optional<Account> account);

  // Counts a wait. `hung`: the request was given up, not just slow.
  void count_wait(std::uint32_t tgid, std::optional<Account> account,
                  std::chrono::nanoseconds waited, bool hung);

  // Mounts whose file systems failed to answer lately, by their numbers in /proc/PID/mountinfo.
  void shun(std::uint64_t mount);
  std::vector<std::uint64_t> shunned();

 private:
  using Seconds = std::chrono::duration<double>;
  struct Penalty {
    unsigned times = 0;
    MonotonicTime last{};
    MonotonicTime until{};
  };
  // The time that may still be spent on waits; it grows with time. Below 0: overdrawn.
  struct Allowance {
    double seconds = 0;
    MonotonicTime at{};
  };
  struct User {
    Allowance allowance;
    Penalty penalty;
  };
  static bool is_blameless(User& user, MonotonicTime now);
  static double left(Allowance& allowance, MonotonicTime now, double most, double per_second);
  static void punish(Penalty& penalty, MonotonicTime now, unsigned free);
  void forget_old(MonotonicTime now);

  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::uint32_t, Penalty> processes_;
  std::map<Account, User> users_;  // those who caused waits lately
  std::map<std::uint64_t, Penalty> mounts_;
  Allowance anybody_;
  Allowance blameless_;
};

}  // namespace offcpud
