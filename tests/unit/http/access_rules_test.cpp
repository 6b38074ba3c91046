// SPDX-License-Identifier: Apache-2.0
// The table of docs/security.md: options and address to audiences.
#include "http/access_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Reach kLoopback{.local = true, .unix_socket = false};
constexpr Reach kUnix{.local = true, .unix_socket = true};
constexpr Reach kNetwork{.local = false, .unix_socket = false};

const WebConfig kUsers{.users = {{"alice", "hash"}}};
const WebConfig kTlsUsers{.tls = TlsSettings{}, .users = {{"alice", "hash"}}};
const WebConfig kClients{.tls = TlsSettings{.client_auth = ClientAuth::RequireAndVerifyClientCert}};
const WebConfig kIfGiven{.tls = TlsSettings{.client_auth = ClientAuth::VerifyClientCertIfGiven}};
const WebConfig kAnyCert{.tls = TlsSettings{.client_auth = ClientAuth::RequireAnyClientCert}};

TEST(AccessRulesTable, SaysWhoSeesWhat) {
  constexpr auto kAll = Audience::Everybody;
  constexpr auto kLogin = Audience::LoggedIn;
  constexpr auto kNone = Audience::Nobody;
  const struct {
    const char* details;
    const WebConfig& web;
    Reach reach;
    Audience numbers;
    Audience shown;
  } cases[] = {
      {"auto", {}, kLoopback, kAll, kAll},        {"auto", {}, kUnix, kAll, kAll},
      {"auto", {}, kNetwork, kAll, kLogin},       {"auto", kUsers, kLoopback, kLogin, kLogin},
      {"auto", kUsers, kNetwork, kLogin, kLogin}, {"auto", kClients, kNetwork, kAll, kLogin},
      {"open", {}, kNetwork, kAll, kAll},         {"open", kUsers, kNetwork, kLogin, kLogin},
      {"auth", kUsers, kLoopback, kAll, kLogin},  {"auth", kClients, kNetwork, kAll, kLogin},
      {"auto", kIfGiven, kNetwork, kAll, kLogin}, {"auth", kIfGiven, kLoopback, kAll, kLogin},
      {"off", {}, kLoopback, kAll, kNone},        {"off", kUsers, kLoopback, kLogin, kNone},
  };
  for (const auto& row : cases) {
    const auto rules = access_rules({.details = row.details}, row.web, row.reach);
    ASSERT_TRUE(rules) << rules.error().message();
    EXPECT_EQ(rules->numbers, row.numbers) << row.details << row.reach.local;
    EXPECT_EQ(rules->details, row.shown) << row.details << row.reach.local;
  }
}

TEST(AccessRulesTable, ALoginThatNobodyHasIsAnError) {
  for (const WebConfig& web : {WebConfig{}, kAnyCert}) {  // any certificate: it is nobody's
    const auto rules = access_rules({.details = "auth"}, web, kLoopback);
    ASSERT_FALSE(rules);
    EXPECT_THAT(rules.error().message(), HasSubstr("nobody can log in"));
  }
}

TEST(AccessRulesTable, NamesAreCheckedWhereABrowserCouldBeLedAstray) {
  EXPECT_TRUE(access_rules({}, {}, kLoopback)->hosts);
  EXPECT_FALSE(access_rules({}, {}, kUnix)->hosts);
  EXPECT_FALSE(access_rules({}, {}, kNetwork)->hosts);
  EXPECT_FALSE(access_rules({}, kUsers, kLoopback)->hosts);
  EXPECT_TRUE(access_rules({.details = "auth"}, kUsers, kLoopback)->hosts);
  const auto named = access_rules({.hosts = {"Node7"}}, {}, kNetwork);
  EXPECT_THAT(*named->hosts, ::testing::Contains("node7"));
}

TEST(AccessWarnings, AreGivenOnceForWhatTheNetworkSees) {
  const auto warnings = [](const char* details, const WebConfig& web, Reach reach) {
    return access_warnings(*access_rules({.details = details}, web, reach), web, reach,
                           "0.0.0.0:19435");
  };
  EXPECT_THAT(warnings("auto", {}, kLoopback), IsEmpty());
  EXPECT_THAT(warnings("auto", kTlsUsers, kNetwork), IsEmpty());
  EXPECT_THAT(warnings("auto", kClients, kNetwork), IsEmpty());
  EXPECT_THAT(warnings("auto", {}, kNetwork),
              ElementsAre(HasSubstr("0.0.0.0:19435 without a login: whoever reaches it")));
  EXPECT_THAT(warnings("auto", {}, kNetwork), ElementsAre(HasSubstr("are shown to nobody")));
  EXPECT_THAT(warnings("auto", kIfGiven, kNetwork),
              ElementsAre(HasSubstr("threads are shown to those who log in")));
  EXPECT_THAT(warnings("open", {}, kNetwork), ElementsAre(HasSubstr(", and stacks, processes")));
  EXPECT_THAT(warnings("auto", kUsers, kNetwork), ElementsAre(HasSubstr("passwords cross")));
}

}  // namespace
}  // namespace offcpud
