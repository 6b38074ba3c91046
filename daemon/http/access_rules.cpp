// SPDX-License-Identifier: Apache-2.0
#include "http/access_rules.h"

#include "http/host_names.h"

namespace offcpud {
namespace {

bool verifies_clients(const WebConfig& web) {
  return web.tls && (web.tls->client_auth == ClientAuth::VerifyClientCertIfGiven ||
                     web.tls->client_auth == ClientAuth::RequireAndVerifyClientCert);
}

// Whether TLS refuses every connection without a valid client certificate.
bool requires_certificate(const WebConfig& web) {
  return web.tls && web.tls->client_auth == ClientAuth::RequireAndVerifyClientCert;
}

Audience details_audience(const std::string& option, Audience numbers, bool local) {
  if (option == "off") return Audience::Nobody;
  if (option == "auth") return Audience::LoggedIn;
  if (option == "open" || numbers != Audience::Everybody) return numbers;
  return local ? Audience::Everybody : Audience::LoggedIn;
}

std::string who_sees_details(const AccessRules& rules, const WebConfig& web) {
  if (rules.details == Audience::Everybody) return "and stacks, processes and threads";
  const bool somebody =
      rules.details == Audience::LoggedIn && (!rules.users.empty() || verifies_clients(web));
  return somebody ? "stacks, processes and threads are shown to those who log in"
                  : "stacks, processes and threads are shown to nobody";
}

}  // namespace

Result<AccessRules> access_rules(const Config::Web& options, const WebConfig& web, Reach reach,
                                 const TrustedPeers& trusted) {
  AccessRules rules;
  rules.users = web.users;
  rules.rate_limit = web.rate_limit;
  rules.trusted = trusted;
  rules.socket_is_only_way = reach.unix_socket;
  const bool login_for_all = !web.users.empty() && options.details != "auth";
  if (login_for_all) rules.numbers = Audience::LoggedIn;
  rules.details = details_audience(options.details, rules.numbers, reach.local);
  if (options.details == "auth" && web.users.empty() && !verifies_clients(web)) {
    return Error(
        "web.details: nobody can log in: web.config_file has neither basic_auth_users nor "
        "a client_auth_type that verifies; add one, or use off",
        ErrorKind::Configuration);
  }
  const bool rebinding = reach.local && !reach.unix_socket && !login_for_all;
  if (!options.hosts.empty() || rebinding) {
    rules.hosts = own_host_names();
    for (const std::string& host : options.hosts) rules.hosts->push_back(host_of(host));
  }
  return rules;
}

std::vector<std::string> access_warnings(const AccessRules& rules, const WebConfig& web,
                                         Reach reach, const std::string& listen) {
  std::vector<std::string> warnings;
  if (reach.local) return warnings;
  if (!web.tls && !rules.users.empty()) {
    warnings.push_back("listening on " + listen +
                       " without TLS: passwords cross the network as clear text; add "
                       "tls_server_config to web.config_file");
  }
  if (rules.numbers == Audience::Everybody && !requires_certificate(web)) {
    const bool all = rules.details == Audience::Everybody;
    warnings.push_back("listening on " + listen +
                       " without a login: whoever reaches it sees the names and waits of all "
                       "cgroups and exported processes" +
                       (all ? ", " : "; ") + who_sees_details(rules, web) +
                       ". web.config_file and web.details change that: man offcpud.yaml");
  }
  return warnings;
}

}  // namespace offcpud
