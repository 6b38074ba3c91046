// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/web_config.h"
#include "http/http_message.h"
#include "http/password_checker.h"
#include "http/peer_credentials.h"

namespace offcpud {

// Who may see a part of the answers.
enum class Audience {
  Everybody,
  LoggedIn,  // users with a password or, if there are none, clients whose certificate was verified
  Nobody,
};

// The rules in force; docs/security.md says how they follow from the options.
struct AccessRules {
  Audience numbers = Audience::Everybody;  // /metrics, health, status and pages of links
  Audience details = Audience::Everybody;  // stacks, processes, threads
  std::map<std::string, std::string, std::less<>> users;  // name to bcrypt hash
  std::optional<std::vector<std::string>> hosts;          // names of this host; nullopt: any name
  RateLimit rate_limit;
  TrustedPeers trusted;             // need no login on the local socket; see addresses everywhere
  bool socket_is_only_way = false;  // `listen` is a unix socket whose mode decides who may ask
};

// Answers the requests that the rules allow through `next`, and refuses the others. handle() may be
// called by several threads at once, `set` by one.
class AccessControl {
 public:
  // `is_detail`: whether a path is for the audience `details`. `clock` must outlive the object.
  // `passwords`: heartbeat of the thread that compares passwords.
  AccessControl(AccessRules rules, Respond next, bool (*is_detail)(std::string_view path),
                const Clock& clock, std::shared_ptr<Heartbeat> passwords = nullptr);

  // Answer requests to `listen` and to web.local_socket. On the latter, trusted peers need no
  // login. Others see what they see over `listen`, or nothing if they could not connect to that.
  Response handle(const Request& request);
  Response handle_local(const Request& request);
  void set(AccessRules rules);

 private:
  using Rules = std::shared_ptr<const AccessRules>;

  Rules rules();
  bool within_rate(const RateLimit& limit);
  Response answer(const Rules& rules, Request request);
  Response after_password(const Rules& rules, const Request& request);

  Respond next_;
  bool (*is_detail_)(std::string_view path);
  const Clock& clock_;
  std::mutex mutex_;
  Rules rules_;
  double tokens_ = 0;  // left for the rate limit; full at the start
  MonotonicTime counted_;
  PasswordChecker passwords_;  // last: its thread calls done() with the members above
};

}  // namespace offcpud
