// SPDX-License-Identifier: Apache-2.0
// Who gets an answer, and what the others are told.
#include "http/access_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <vector>

#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

// "secret" with cost 4.
constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
constexpr const char* kRight = "Basic YWxpY2U6c2VjcmV0";    // alice:secret
constexpr const char* kWrong = "Basic YWxpY2U6d3Jvbmc=";    // alice:wrong
constexpr const char* kUnknown = "Basic Ym9iOnNlY3JldA==";  // bob:secret

class AccessControlTest : public ::testing::Test {
 protected:
  void start(AccessRules rules) {
    control_.emplace(
        std::move(rules),
        [](const Request& request) {
          return Response{.body = request.sees_addresses ? "with addresses"
                                  : request.sees_details ? "with details"
                                                         : "numbers"};
        },
        [](std::string_view path) { return path == "/stacks"; }, clock_);
  }
  // The answer, waited for when it comes later.
  Response ask(const Request& request) {
    Response response = control_->handle(request);
    const auto* const later = std::get_if<Later>(&response.body);
    if (later == nullptr) return response;
    ++later_;
    std::promise<Later::Make> promise;
    later->start([&](Later::Make make) { promise.set_value(std::move(make)); });
    return promise.get_future().get()();
  }
  Response get(const std::string& path, const std::string& authorization = {}) {
    return ask({.method = "GET", .path = path, .authorization = authorization});
  }

  FakeClock clock_;
  std::optional<AccessControl> control_;
  int later_ = 0;  // answers that had to be waited for
};

TEST_F(AccessControlTest, WithoutRulesEverythingIsAnswered) {
  start({});
  EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/stacks").status, 200U);
}

TEST_F(AccessControlTest, DetailsCanBeOffWhileNumbersStay) {
  start({.details = Audience::Nobody});
  EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/stacks").status, 403U);
}

TEST_F(AccessControlTest, DetailsBehindALoginThatNobodyHasAreRefusedWithTheWayOut) {
  start({.details = Audience::LoggedIn});
  const Response response = get("/stacks");
  EXPECT_EQ(response.status, 403U);
  EXPECT_THAT(std::get<std::string>(response.body), HasSubstr("web.details to open"));
  EXPECT_EQ(ask({.path = "/stacks", .verified_client = true}).status, 200U);
}

TEST_F(AccessControlTest, APasswordIsCheckedOnceAndRememberedAfterwards) {
  start(
      {.numbers = Audience::LoggedIn, .details = Audience::LoggedIn, .users = {{"alice", kHash}}});
  const Response none = get("/metrics");
  EXPECT_EQ(none.status, 401U);
  EXPECT_THAT(none.headers, Contains(Pair("WWW-Authenticate", HasSubstr("Basic realm="))));
  EXPECT_EQ(later_, 0);
  EXPECT_EQ(get("/metrics", kRight).status, 200U);
  EXPECT_EQ(later_, 1);
  EXPECT_EQ(get("/metrics", kRight).status, 200U);
  EXPECT_EQ(get("/stacks", kRight).status, 200U);
  EXPECT_EQ(later_, 1);
  EXPECT_EQ(get("/metrics", kWrong).status, 401U);
  EXPECT_EQ(get("/metrics", kUnknown).status, 401U);
  EXPECT_EQ(get("/metrics", kWrong).status, 401U);
  EXPECT_EQ(later_, 4);  // what is wrong is never remembered
  EXPECT_EQ(get("/metrics", "Bearer abc").status, 401U);
  EXPECT_EQ(get("/metrics", "Basic ????").status, 401U);
  EXPECT_EQ(get("/metrics", "Basic").status, 401U);
}

TEST_F(AccessControlTest, AnotherHashForgetsTheOldPassword) {
  const AccessRules rules{.numbers = Audience::LoggedIn, .users = {{"alice", kHash}}};
  start(rules);
  EXPECT_EQ(get("/metrics", kRight).status, 200U);
  AccessRules changed = rules;
  changed.users["alice"] = "$2b$04$" + std::string(53, 'x');
  control_->set(changed);
  EXPECT_EQ(get("/metrics", kRight).status, 401U);
  control_->set({.numbers = Audience::LoggedIn, .users = {{"carol", kHash}}});
  EXPECT_EQ(get("/metrics", kRight).status, 401U);
}

TEST_F(AccessControlTest, MetricsStayOpenWhileDetailsNeedAPassword) {
  start({.details = Audience::LoggedIn, .users = {{"alice", kHash}}});
  EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/stacks").status, 401U);
  EXPECT_EQ(get("/stacks", kRight).status, 200U);
}

// The same page tells more to those who may see more.
TEST_F(AccessControlTest, AnAnswerForEverybodyHasDetailsForThoseWhoMaySeeThem) {
  const auto metrics = [this](const Request& request) {
    return std::get<std::string>(ask(request).body);
  };
  const Request anybody{.path = "/metrics"};
  start({});
  EXPECT_EQ(metrics(anybody), "with details");
  start({.details = Audience::Nobody});
  EXPECT_EQ(metrics(anybody), "numbers");
  start({.details = Audience::LoggedIn});
  EXPECT_EQ(metrics(anybody), "numbers");
  EXPECT_EQ(metrics({.path = "/metrics", .verified_client = true}), "with addresses");
  start(
      {.numbers = Audience::LoggedIn, .details = Audience::LoggedIn, .users = {{"alice", kHash}}});
  EXPECT_EQ(metrics({.path = "/metrics", .authorization = kRight}), "with addresses");
}

constexpr uid_t kRoot = 0, kDaemon = 990, kUser = 1000;
constexpr gid_t kGroup = 44;

Request by(uid_t uid, std::vector<gid_t> groups = {}) {
  return {.path = "/stacks", .credentials = PeerCredentials{uid, std::move(groups)}};
}

// By a unix socket in `listen` the kernel says who asks; over TCP nobody is known.
TEST_F(AccessControlTest, AddressesAreForThoseWhomTheKernelVouchesFor) {
  const auto body = [this](const Request& request) {
    return std::get<std::string>(ask(request).body);
  };
  start({.trusted = {kDaemon, kGroup}});
  EXPECT_EQ(body({.path = "/stacks"}), "with details");
  EXPECT_EQ(body({.path = "/stacks", .authorization = kRight}), "with details");
  EXPECT_EQ(body(by(kUser)), "with details");
  EXPECT_EQ(body(by(kUser, {100, kGroup})), "with addresses");
  EXPECT_EQ(body(by(kRoot)), "with addresses");
  EXPECT_EQ(body(by(kDaemon)), "with addresses");
  start({.trusted = {kDaemon, std::nullopt}});
  EXPECT_EQ(body(by(kUser, {kGroup})), "with details");
}

TEST_F(AccessControlTest, OnTheLocalSocketTheTrustedNeedNoLogin) {
  const auto status = [this](const Request& request) {
    return control_->handle_local(request).status;
  };
  start({.numbers = Audience::LoggedIn,
         .details = Audience::LoggedIn,
         .users = {{"alice", kHash}},
         .trusted = {kDaemon, kGroup}});
  for (const Request& request : {by(kRoot), by(kDaemon), by(kUser, {kGroup})}) {
    const Response response = control_->handle_local(request);
    EXPECT_EQ(response.status, 200U);
    EXPECT_EQ(std::get<std::string>(response.body), "with addresses");
    EXPECT_EQ(ask(request).status, 401U) << "a proxy in front of `listen` may be one of them";
  }
  EXPECT_EQ(status(by(kUser)), 401U);
  EXPECT_EQ(status({.path = "/stacks"}), 401U) << "whom the kernel does not know";
}

TEST_F(AccessControlTest, OnTheLocalSocketTheOthersSeeWhatTheySeeElsewhere) {
  const auto status = [this](const Request& request) {
    return control_->handle_local(request).status;
  };
  start({.hosts = std::vector<std::string>{}});
  EXPECT_EQ(status(by(kUser)), 200U) << "no browser: any Host will do";
  EXPECT_EQ(std::get<std::string>(control_->handle_local(by(kUser)).body), "with details");
  start({.details = Audience::LoggedIn});
  EXPECT_EQ(status(by(kUser)), 403U);
  EXPECT_EQ(status(by(kRoot)), 200U);
  start({.details = Audience::Nobody});
  EXPECT_EQ(status(by(kRoot)), 403U) << "off is off";
  start({.socket_is_only_way = true});
  EXPECT_EQ(status(by(kUser)), 403U) << "the mode of `listen` would keep him out";
  EXPECT_EQ(status(by(kRoot)), 200U);
}

TEST_F(AccessControlTest, ManyPasswordsAtOnceDoNotPileUp) {
  start({.numbers = Audience::LoggedIn,
         .users = {{"alice", "$2b$08$" + std::string(53, 'x')}}});  // some 15 ms each
  std::vector<std::future<unsigned>> answers;
  for (int i = 0; i < 40; ++i) {
    Response response = control_->handle({.path = "/metrics", .authorization = kWrong});
    auto promise = std::make_shared<std::promise<unsigned>>();
    answers.push_back(promise->get_future());
    std::get<Later>(response.body).start([promise](const Later::Make& make) {
      promise->set_value(make().status);
    });
  }
  std::map<unsigned, int> counts;
  for (auto& answer : answers) ++counts[answer.get()];
  EXPECT_GE(counts[401], 8);
  EXPECT_GE(counts[503], 1);
  EXPECT_EQ(counts[401] + counts[503], 40);
}

TEST_F(AccessControlTest, AForeignHostIsRefused) {
  start({.hosts = std::vector<std::string>{"node7", "node7.example.org"}});
  for (const char* own : {"", "127.0.0.1:19435", "[::1]:19435", "192.0.2.7", "localhost:1",
                          "LOCALHOST.", "a.localhost", "Node7:19435", "node7.example.org"}) {
    EXPECT_EQ(ask({.path = "/metrics", .host = own}).status, 200U) << own;
  }
  for (const char* foreign : {"evil.example:19435", "127.0.0.1.evil.example", "localhost.evil",
                              "node7.evil", "1.2.3.4.5", "[::1", "[evil]:1", "node7@evil"}) {
    EXPECT_EQ(ask({.path = "/metrics", .host = foreign}).status, 421U) << foreign;
  }
  // inet_pton(3) stops at a NUL.
  EXPECT_EQ(ask({.path = "/metrics", .host = std::string("[::1\0x]", 7)}).status, 421U);
}

TEST_F(AccessControlTest, PagesOfOtherSitesMayLinkButNotRead) {
  start({});
  const auto status = [&](const char* site, const char* mode) {
    return ask({.path = "/stacks", .fetch_site = site, .fetch_mode = mode}).status;
  };
  EXPECT_EQ(status("cross-site", "no-cors"), 403U);
  EXPECT_EQ(status("same-site", "cors"), 403U);
  EXPECT_EQ(status("cross-site", "navigate"), 200U);
  EXPECT_EQ(status("same-origin", "cors"), 200U);
  EXPECT_EQ(status("none", "navigate"), 200U);
}

TEST_F(AccessControlTest, TheRateLimitIsABucketOfTokens) {
  start({.rate_limit = {1s, 3}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/metrics").status, 429U);
  clock_.advance(1s);
  EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/metrics").status, 429U);
  clock_.advance(1h);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get("/metrics").status, 200U);
  EXPECT_EQ(get("/metrics").status, 429U);
}

TEST(MatchesBcrypt, KnowsThePrefixesAndNoNul) {
  const std::string hash = kHash;
  EXPECT_TRUE(matches_bcrypt("secret", hash));
  EXPECT_TRUE(matches_bcrypt("secret", "$2y" + hash.substr(3)));
  EXPECT_TRUE(matches_bcrypt("secret", "$2a" + hash.substr(3)));
  EXPECT_FALSE(matches_bcrypt("Secret", hash));
  EXPECT_FALSE(matches_bcrypt(std::string("secret\0x", 8), hash));
}

}  // namespace
}  // namespace offcpud
