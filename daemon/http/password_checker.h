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

// Compares passwords with bcrypt hashes (crypt(5)), one at a time on its own thread, in the order
// of a PasswordQueue: a comparison takes tens of milliseconds by design. Remembers one right
// password for each user, as an HMAC-SHA-256 of user, hash and password with a key of this process,
// so a scrape every few seconds costs microseconds. Wrong passwords are not remembered: right and
// wrong ones, of known and unknown users, take the same time. `budget` limits the CPU time that a
// flood can use: comparisons wait for it, except those of trusted peers, which are few.
// Thread-safe.
class PasswordChecker {
 public:
  static constexpr std::size_t kMostWaiting = 8;
  // Covers all that may wait at once, at the highest cost accepted. Once it is spent, a new login
  // waits for at most five comparisons: the current one, a pause of three, and its own. That is
  // 0.24 s at cost 10, 1.9 s at cost 13.
  static constexpr CpuShares::Limits kBudget{.at_once = std::chrono::seconds(4),
                                             .per_second = 0.25};

  // `heartbeat`: of its thread.
  explicit PasswordChecker(std::shared_ptr<Heartbeat> heartbeat = nullptr,
                           const CpuShares::Limits& budget = kBudget);
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  // Whether this password was right for this user and hash before.
  bool remembers(const Credentials& credentials, const std::string& hash);

  // Calls `done` of the job once: on the thread or, if it is given up because too many wait, during
  // this or a later call. The destructor drops jobs that still wait. If `known` is false the user
  // does not exist: the answer is no, after the time of a comparison with `hash`.
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
  CpuShares budget_;                     // for all peers together
  std::map<std::string, Digest> right_;  // by user: at most one for each
  std::jthread thread_;                  // last: it uses the members above
};

// Whether `password` has this bcrypt hash. False if it has a NUL: crypt(3) would ignore what
// follows.
bool matches_bcrypt(const std::string& password, const std::string& hash);

// Reads an Authorization header with the scheme Basic (RFC 7617). The error does not quote it.
Result<Credentials> parse_basic_authorization(const std::string& header);

}  // namespace offcpud
