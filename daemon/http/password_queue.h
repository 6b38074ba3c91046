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

// A password that somebody sent and that waits to be compared.
struct PasswordJob {
  std::string peer;  // peer_name
  Credentials credentials;
  std::string hash;
  bool known = false;  // the user exists; says nothing about whose turn it is
  std::function<void(PasswordVerdict verdict)> done;
};

// Passwords that wait, and whose turn it is. A comparison takes up to half a second, so that
// whoever sends wrong ones could keep everybody else waiting. So each wrong one adds a debt,
// which halves every minute, to its address, its network, and the user name as that address sends
// it; one dropped for lack of room adds a little. Who owes least comes first. When full, whoever
// has most jobs waiting loses one, and among these whoever owes most. An address that has sent a
// right password may be wrong a few times before it counts as others do. Nothing
// here depends on whether a user exists. Not thread-safe.
class PasswordQueue {
 public:
  explicit PasswordQueue(std::size_t most) : most_(most) {}

  // Adds the job. Returns the one dropped for lack of room, if any: `job` or another.
  std::optional<PasswordJob> push(PasswordJob job, MonotonicTime now);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  // A right password came from this peer, and not many wrong ones since.
  [[nodiscard]] bool trusts(const std::string& peer, MonotonicTime now) const;

  // trusts() the next one's peer.
  [[nodiscard]] bool next_is_trusted(MonotonicTime now) const;

  // Must not be called if empty().
  PasswordJob pop(MonotonicTime now);

  // How a comparison for this peer and user ended.
  void settle(const std::string& peer, const std::string& user, bool right, MonotonicTime now);

 private:
  struct Account {
    double debt = 0;
    MonotonicTime since;  // when `debt` was current
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
  static void charge(Account& account, double amount, MonotonicTime now);

  std::size_t most_;
  std::uint64_t next_number_ = 0;
  std::vector<Waiting> waiting_;  // by number
  std::map<std::string, Account> accounts_;
};

}  // namespace offcpud
