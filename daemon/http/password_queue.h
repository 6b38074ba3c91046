// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace offcpud {

struct Credentials {
  std::string user;
  std::string password;
};

enum class PasswordVerdict { Right, Wrong, GivenUp };

// A password that waits to be compared.
struct PasswordJob {
  std::string peer;  // peer_name
  Credentials credentials;
  std::string hash;
  bool known = false;  // the user exists; has no influence on the order
  std::function<void(PasswordVerdict verdict)> done;
};

// Passwords that wait to be compared, and their order. A comparison takes up to half a second, so a
// client that sends wrong passwords could delay all others. So each wrong password adds a debt,
// which halves every minute, to its address, its network, and the pair of user name and address; a
// password dropped for lack of room adds a little. The least debt comes first. When the queue is
// full, the address with the most waiting passwords loses one. An address that once sent a right
// password may send a few wrong ones before it counts as others do. Nothing here depends on whether
// a user exists. Not thread-safe.
class PasswordQueue {
 public:
  explicit PasswordQueue(std::size_t most) : most_(most) {}

  // Adds the job. Returns the job that was dropped for lack of room, if any: `job` or another one.
  std::optional<PasswordJob> push(PasswordJob job, MonotonicTime now);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  // Whether this peer has sent a right password, and not many wrong ones since.
  [[nodiscard]] bool trusts(const std::string& peer, MonotonicTime now) const;

  // Whether trusts() is true for the peer of the next job.
  [[nodiscard]] bool next_is_trusted(MonotonicTime now) const;

  // The queue must not be empty().
  PasswordJob pop(MonotonicTime now);

  // Reports the result of a comparison for this peer and user.
  void settle(const std::string& peer, const std::string& user, bool right, MonotonicTime now);

 private:
  struct Account {
    double debt = 0;
    MonotonicTime since;  // time of the last change of `debt`
    bool was_right = false;
  };
  struct Debts {
    double peer = 0, network = 0, user = 0;
    auto operator<=>(const Debts&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Waiting {
    PasswordJob job;
    std::uint64_t number = 0;
  };

  [[nodiscard]] double debt_of(const std::string& account, MonotonicTime now) const;
  [[nodiscard]] Debts debts_of(const PasswordJob& job, MonotonicTime now) const;
  [[nodiscard]] std::size_t place_of_worst(MonotonicTime now) const;
  PasswordJob take(std::size_t place);
  Account& account(const std::string& name);
  static void add_debt(Account& account, double amount, MonotonicTime now);

  std::size_t most_;
  std::uint64_t next_number_ = 0;
  std::vector<Waiting> waiting_;  // by number
  std::map<std::string, Account> accounts_;
};

}  // namespace offcpud
