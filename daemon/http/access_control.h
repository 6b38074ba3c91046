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

// Who may see a part of what there is.
enum class Audience {
  Everybody,
  LoggedIn,  // users with a password; without any, clients whose certificate was verified
  Nobody,
};

// In force until the configuration changes. docs/security.md says how it follows from the options.
struct AccessRules {
  Audience numbers = Audience::Everybody;  // /metrics, health, status and pages of links
  Audience details = Audience::Everybody;  // stacks, processes, threads
  std::map<std::string, std::string, std::less<>> users;  // name to bcrypt hash
  std::optional<std::vector<std::string>> hosts;  // names of this host; nullopt: any name will do
  RateLimit rate_limit;
  TrustedPeers trusted;  // who needs no login on the local socket, and sees addresses on any
  bool socket_is_only_way = false;  // `listen` is a unix socket, whose mode says who may ask
};

// Stands in front of the routes and lets through what may be answered. Called by several threads at
// once; `set` by one.
class AccessControl {
 public:
  // `is_detail` tells which audience a path is for. `clock` outlives the object.
  // `passwords` is the heartbeat of the thread that compares them.
  AccessControl(AccessRules rules, Respond next, bool (*is_detail)(std::string_view path),
                const Clock& clock, std::shared_ptr<Heartbeat> passwords = nullptr);

  // What comes by `listen`, and what comes by web.local_socket. There the trusted are let in
  // without a login; the others see what they see by `listen`, and nothing if they cannot even
  // connect to that.
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
  double tokens_ = 0;  // of the rate limit; full at first
  MonotonicTime counted_;
  PasswordChecker passwords_;  // last: its thread answers through the members above
};

}  // namespace offcpud
