// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/cpu_shares.h"
#include "base/heartbeat.h"
#include "base/result.h"
#include "http/password_queue.h"

namespace offcpud {

// Compares passwords with bcrypt hashes (crypt(5)), which takes tens of milliseconds by design, on
// a thread of its own, one after the other, in the order of a PasswordQueue. What was right is
// remembered, one password for each user, as an HMAC-SHA-256 of user, hash and password under a key
// of this process: a scrape every few seconds costs microseconds. What was wrong is not remembered,
// so a right and a wrong password of every user take as long, known or not. A flood takes no more
// of a CPU than `budget` has: the next comparison waits for that, unless its peer is trusted, whose
// comparisons are few. Thread-safe.
class PasswordChecker {
 public:
  static constexpr std::size_t kMostWaiting = 8;
  // At once as many as may wait, of the highest cost that is taken. Once that is spent, a new login
  // waits for five comparisons at most: the one under way, a pause of three, its own. That is
  // 0.24 s at a cost of 10, 1.9 s at 13.
  static constexpr CpuShares::Limits kBudget{.at_once = std::chrono::seconds(4),
                                             .per_second = 0.25};

  // `heartbeat` is of its thread.
  explicit PasswordChecker(std::shared_ptr<Heartbeat> heartbeat = nullptr,
                           const CpuShares::Limits& budget = kBudget);
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  // True: this password was right for this user and hash before.
  bool remembers(const Credentials& credentials, const std::string& hash);

  // Calls `done` of the job once, from the thread; or from this or a later call, if it is given up
  // because too many wait. One that still waits when the object goes is dropped. `known` false: the
  // user does not exist, so the answer is no, after as long as a comparison with `hash` takes.
  void check(PasswordJob job);

 private:
  using Digest = std::array<std::uint8_t, 32>;
  Digest digest_of(const Credentials& credentials, const std::string& hash) const;
  bool is_right(const PasswordJob& job);
  bool await_turn(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void run(const std::stop_token& stop);

  const std::shared_ptr<Heartbeat> heartbeat_;  // may be null
  const Digest key_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  PasswordQueue jobs_{kMostWaiting};
  CpuShares budget_;                     // of all peers together
  std::map<std::string, Digest> right_;  // by user; no more of them than there are users
  std::jthread thread_;                  // last: it uses the members above
};

// True if `password` has this bcrypt hash. A password with a NUL in it has none: crypt(3) would
// not see what follows.
bool matches_bcrypt(const std::string& password, const std::string& hash);

// Reads an Authorization header with the scheme Basic (RFC 7617). The error says nothing of its
// content.
Result<Credentials> parse_basic_authorization(const std::string& header);

}  // namespace offcpud
