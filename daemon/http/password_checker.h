// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/heartbeat.h"
#include "base/result.h"
#include "http/password_queue.h"

namespace offcpud {

// Compares passwords with bcrypt hashes (crypt(5)), which takes tens of milliseconds by design, on
// a thread of its own, one after the other, in the order of a PasswordQueue. What was right is
// remembered, one password for each user, as an HMAC-SHA-256 of user, hash and password under a key
// of this process: a scrape every few seconds costs microseconds. What was wrong is not remembered,
// so a right and a wrong password of every user take as long, known or not. Thread-safe.
class PasswordChecker {
 public:
  static constexpr std::size_t kMostWaiting = 8;

  explicit PasswordChecker(std::shared_ptr<Heartbeat> heartbeat = nullptr);  // of its thread
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
  void run(const std::stop_token& stop);

  const std::shared_ptr<Heartbeat> heartbeat_;  // may be null
  const Digest key_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  PasswordQueue jobs_{kMostWaiting};
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
