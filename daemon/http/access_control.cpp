// SPDX-License-Identifier: Apache-2.0
#include "http/access_control.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "http/host_names.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

Response refusal(unsigned status, const std::string& sentence) {
  const Json body = {{"error", sentence}};
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(2, ' ', true, Json::error_handler_t::replace) + '\n'};
}

Response with_header(Response response, const char* name, const char* value) {
  response.headers.emplace_back(name, value);
  return response;
}

Response too_many(unsigned status, const char* sentence) {
  return with_header(refusal(status, sentence), "Retry-After", "1");
}

Response login_needed(const char* sentence) {
  return with_header(refusal(401, sentence), "WWW-Authenticate",
                     "Basic realm=\"offcpud\", charset=\"UTF-8\"");  // RFC 7617
}

Response foreign_host(const Request& request) {
  return refusal(421, "this is not " + host_of(request.host) +
                          "; ask for an IP address or localhost, or add the name to web.hosts");
}

// True if a page of another site made this request (Fetch Metadata, W3C), unless it is a link that
// somebody followed. Only browsers send these headers.
bool is_cross_site(const Request& request) {
  const bool elsewhere = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
  return elsewhere && request.fetch_mode != "navigate";
}

// The hash for unknown users: comparing it takes as long as for the slowest known user.
const std::string& costliest(const AccessRules& rules) {
  const auto cost = [](const auto& user) { return user.second.substr(4, 2); };
  return std::max_element(rules.users.begin(), rules.users.end(),
                          [&](const auto& a, const auto& b) { return cost(a) < cost(b); })
      ->second;
}

// For an answer without login. If only `details` needs a password, browsers are not asked for one
// here, and the answer has no details.
bool sees_details(const AccessRules& rules, const Request& request) {
  if (rules.details == Audience::Everybody) return true;
  if (rules.details == Audience::Nobody) return false;
  return rules.numbers == Audience::LoggedIn || (rules.users.empty() && request.verified_client);
}

bool is_trusted(const AccessRules& rules, const Request& request) {
  return request.credentials && rules.trusted.include(*request.credentials);
}

// For an answer without login; after a login see logged_in().
bool sees_addresses(const AccessRules& rules, const Request& request) {
  if (rules.details == Audience::Nobody) return false;
  return is_trusted(rules, request) || (rules.users.empty() && request.verified_client);
}

// The request after a right password.
Request logged_in(const AccessRules& rules, Request request) {
  request.sees_details = request.sees_addresses = rules.details != Audience::Nobody;
  return request;
}

}  // namespace

AccessControl::AccessControl(AccessRules rules, Respond next,
                             bool (*is_detail)(std::string_view path), const Clock& clock,
                             std::shared_ptr<Heartbeat> passwords)
    : next_(std::move(next)),
      is_detail_(is_detail),
      clock_(clock),
      rules_(std::make_shared<const AccessRules>(std::move(rules))),
      tokens_(rules_->rate_limit.burst),
      counted_(clock.now()),
      passwords_(std::move(passwords)) {}

void AccessControl::set(AccessRules rules) {
  auto wanted = std::make_shared<const AccessRules>(std::move(rules));
  const std::lock_guard lock(mutex_);
  if (wanted->rate_limit != rules_->rate_limit) tokens_ = wanted->rate_limit.burst;
  rules_ = std::move(wanted);
}

AccessControl::Rules AccessControl::rules() {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Response AccessControl::handle(const Request& request) {
  return answer(rules(), request);
}

Response AccessControl::handle_local(const Request& request) {
  const Rules here = rules();
  if (is_trusted(*here, request) && here->details != Audience::Nobody) {
    auto open = std::make_shared<AccessRules>();
    open->rate_limit = here->rate_limit;
    open->trusted = here->trusted;
    return answer(open, request);
  }
  if (here->socket_is_only_way && !is_trusted(*here, request)) {
    return refusal(403, "this socket is for root and for the members of web.socket_group");
  }
  auto without_hosts = std::make_shared<AccessRules>(*here);  // browsers do not come this way
  without_hosts->hosts.reset();
  return answer(without_hosts, request);
}

Response AccessControl::answer(const Rules& rules, Request request) {
  if (!within_rate(rules->rate_limit)) {
    return too_many(429, "more requests than rate_limit of web.config_file allows");
  }
  request.sees_details = sees_details(*rules, request);
  request.sees_addresses = request.sees_details && sees_addresses(*rules, request);
  if (rules->hosts && !is_own_host(request.host, *rules->hosts)) return foreign_host(request);
  if (is_cross_site(request)) return refusal(403, "pages of other sites may not read this");

  const bool detail = is_detail_(request.path);
  const Audience audience = detail ? rules->details : rules->numbers;
  if (audience == Audience::Everybody) return next_(request);
  if (audience == Audience::Nobody) {
    return refusal(403, "stacks, processes and threads are not shown: web.details is off");
  }
  if (!rules->users.empty()) return after_password(rules, request);
  if (request.verified_client) return next_(request);
  return refusal(403, detail
                          ? "stacks, processes and threads are shown on loopback only, or to those "
                            "who log in: set web.config_file, or web.details to open"
                          : "this needs a client certificate");
}

// One token bucket for all clients, as in the exporter toolkit.
bool AccessControl::within_rate(const RateLimit& limit) {
  if (limit.interval.count() == 0) return true;
  const std::lock_guard lock(mutex_);
  const MonotonicTime now = clock_.now();
  const std::chrono::duration<double> passed = now - counted_;
  counted_ = now;
  const double earned = passed / std::chrono::duration<double>(limit.interval);
  tokens_ = std::min<double>(limit.burst, tokens_ + earned);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

Response AccessControl::after_password(const Rules& rules, const Request& request) {
  if (request.authorization.empty()) return login_needed("this needs a user and a password");
  auto credentials = parse_basic_authorization(request.authorization);
  if (!credentials) return login_needed("the Authorization header is not of the scheme Basic");
  const auto user = rules->users.find(credentials->user);
  const bool known = user != rules->users.end();
  if (known && passwords_.remembers(*credentials, user->second))
    return next_(logged_in(*rules, request));

  // Threads of the server never wait for bcrypt; the password checker has its own thread.
  const std::string hash = known ? user->second : costliest(*rules);
  const auto start = [this, rules, request, hash, known,
                      credentials = *std::move(credentials)](const Later::Done& done) {
    const auto tell = [=, this](PasswordVerdict verdict) {
      if (verdict == PasswordVerdict::Right) {
        done([=, this] { return next_(logged_in(*rules, request)); });
      } else if (verdict == PasswordVerdict::Wrong) {
        done([] { return login_needed("the user or the password is wrong"); });
      } else {
        done([] {
          return too_many(503, "too many passwords wait to be checked; try again shortly");
        });
      }
    };
    passwords_.check({request.peer, credentials, hash, known, tell});
  };
  return {.body = Later{start}};
}

}  // namespace offcpud
