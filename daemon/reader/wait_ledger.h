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

// A user of this host, to whom what a process does is charged: 0 is root.
using Account = std::uint32_t;
inline constexpr Account kRootAccount = 0;
// Whoever the processes ran for that are gone, and cannot be asked about any more: (uid_t)-1, which
// is nobody's number.
inline constexpr Account kUnknownAccount = 0xffffffff;

// Why something is not read now.
enum class Refusal : std::uint8_t {
  Process,  // the process had us wait a while ago
  User,     // its user's processes did
  Mount,    // the file system did
  Budget,   // all together had us wait too long
  Readers,  // too many readers wait for somebody else and cannot be ended, or none can be started
  Copies,   // copies of other files take all the memory there is for them
  Size,     // it would have to be copied, and is too large for that
};
inline constexpr std::array<const char*, 7> kRefusalNames = {"process", "user",   "mount", "budget",
                                                             "readers", "copies", "size"};

// Who had us wait, and for how long. It bounds what any number of hostile processes can cost: all
// together a second in twenty on average, of which two thirds are for anybody, and a third is kept
// for users whose processes have not had anybody wait, or not for long and not lately. Who is
// refused is tried again later, at longer and longer intervals. Thread-safe.
class WaitLedger {
 public:
  explicit WaitLedger(const Clock& clock);

  // Whether may_ask() depends on whose the process is.
  [[nodiscard]] bool needs_account();

  // Nothing: go ahead.
  std::optional<Refusal> may_ask(std::uint32_t tgid, std::optional<Account> account);

  // `hung`: it was given up, and not just slow.
  void charge(std::uint32_t tgid, std::optional<Account> account, std::chrono::nanoseconds waited,
              bool hung);

  // Mounts whose file systems did not answer a while ago, by numbers of /proc/PID/mountinfo.
  void shun(std::uint64_t mount);
  std::vector<std::uint64_t> shunned();

 private:
  using Seconds = std::chrono::duration<double>;
  struct Penalty {
    unsigned times = 0;
    MonotonicTime last{};
    MonotonicTime until{};
  };
  // What may be waited, which comes back with time. Below 0 it was overdrawn.
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
  std::map<Account, User> users_;  // that had somebody wait not long ago
  std::map<std::uint64_t, Penalty> mounts_;
  Allowance anybody_;
  Allowance blameless_;
};

}  // namespace offcpud
