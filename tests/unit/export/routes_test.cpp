// SPDX-License-Identifier: Apache-2.0
#include "export/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "unit/export/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class FixedClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return time; }
  [[nodiscard]] WallTime wall() const override { return {}; }
  MonotonicTime time;
};

class RoutesTest : public ::testing::Test {
 protected:
  Response get(const std::string& path) const {
    return routes_.handle({.method = "GET", .path = path});
  }

  static std::string body_of(const Response& response) {
    if (const auto* text = std::get_if<std::string>(&response.body)) return *text;
    const auto& stream = std::get<BodyStream>(response.body);
    std::string body;
    std::array<char, 4096> buffer{};
    while (const std::size_t n = stream(buffer)) body.append(buffer.data(), n);
    return body;
  }

  FixedClock clock_;
  std::shared_ptr<const View> view_ = test::hostile_view();
  StatusReport report_;
  std::vector<Freshness> asked_;
  Routes routes_{{.view =
                      [this](Freshness freshness) {
                        asked_.push_back(freshness);
                        return view_;
                      },
                  .status = [this] { return report_; },
                  .self_metrics = [] { return std::string("own_metric 1\n"); }},
                 {},
                 clock_};
};

TEST_F(RoutesTest, MetricsAreFreshTextOfTheView) {
  const Response response = get("/metrics");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(body_of(response), test::render(view_, 28, "own_metric 1\n"));
  EXPECT_THAT(asked_, ElementsAre(Freshness::Fresh));
}

TEST_F(RoutesTest, MetricsBeforeTheFirstPassAreUnavailableRatherThanIncomplete) {
  view_ = nullptr;
  const Response response = get("/metrics");
  EXPECT_EQ(response.status, 503U);
  EXPECT_THAT(body_of(response), HasSubstr("no pass over the kernel maps has completed"));
}

TEST_F(RoutesTest, HealthyNeedsNoPass) {
  view_ = nullptr;
  EXPECT_EQ(get("/-/healthy").status, 200U);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoutesTest, ReadyFollowsTheAgeOfTheLastPass) {
  clock_.time = view_->taken + 30s;
  EXPECT_EQ(get("/-/ready").status, 200U);
  clock_.time = view_->taken + 31s;
  EXPECT_EQ(get("/-/ready").status, 503U);
  EXPECT_EQ(get("/-/ready").content_type, "application/json");
  EXPECT_THAT(body_of(get("/-/ready")), HasSubstr("31 s ago, more than 30 s"));
  view_ = nullptr;
  EXPECT_EQ(get("/-/ready").status, 503U);
  EXPECT_THAT(body_of(get("/-/ready")), HasSubstr("\"error\": \"offcpud is not ready: no pass"));
  EXPECT_THAT(asked_, Not(Contains(Freshness::Fresh)));
}

TEST_F(RoutesTest, StatusIsJson) {
  report_.version = "0.1.0";
  const Response response = get("/api/v1/status");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(body_of(response), HasSubstr("\"version\": \"0.1.0\""));
}

TEST_F(RoutesTest, TopIsFreshJson) {
  const Response response = get("/api/v1/top");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(body_of(response), HasSubstr("\"comm\":\"nginx\""));
  EXPECT_THAT(asked_, ElementsAre(Freshness::Fresh));
  view_ = nullptr;
  EXPECT_EQ(get("/api/v1/top").status, 503U);
}

TEST_F(RoutesTest, TopRefusesWhatItDoesNotKnow) {
  const Response response =
      routes_.handle({.method = "GET", .path = "/api/v1/top", .query = {{"cgrp", "/x"}}});
  EXPECT_EQ(response.status, 400U);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(body_of(response), HasSubstr("unknown parameter"));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoutesTest, PageLinksEverythingAndAllowsNothing) {
  report_.version = "<script>";
  const Response response = get("/");
  const std::string html = body_of(response);
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  for (const char* path : {"/metrics", "/-/healthy", "/-/ready", "/api/v1/status", "/api/v1/top"}) {
    EXPECT_THAT(html, HasSubstr("<a href=\"" + std::string(path) + "\">"));
  }
  EXPECT_THAT(response.headers,
              Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'none'"))));
}

TEST_F(RoutesTest, TheFlameGraphIsAPageWithItsPartsAndAPolicy) {
  const Response page = get("/flame");
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(body_of(page), HasSubstr("<script src=\"flame.js\" defer>"));
  EXPECT_THAT(page.headers,
              Contains(Pair("Content-Security-Policy",
                            AllOf(HasSubstr("default-src 'none'; script-src 'self'; "),
                                  HasSubstr("connect-src 'self'"), Not(HasSubstr("unsafe"))))));
  EXPECT_THAT(page.headers, Contains(Pair("Cache-Control", "no-cache")));

  const Response script = get("/flame.js");
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(body_of(script), HasSubstr("d3-flame-graph 5.0.0"));
  EXPECT_THAT(script.headers, Contains(Pair("X-Content-Type-Options", "nosniff")));
  EXPECT_EQ(get("/flame.css").content_type, "text/css; charset=utf-8");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoutesTest, ThePageLinksTheFlameGraphButNotItsParts) {
  const std::string html = body_of(get("/"));
  EXPECT_THAT(html, HasSubstr("<a href=\"/flame\">"));
  EXPECT_THAT(html, Not(HasSubstr("flame.js")));
}

TEST_F(RoutesTest, UnknownPathsListWhatExists) {
  for (const char* path : {"/metric", "/metrics/", "/../etc/passwd", "", "/\xff"}) {
    const Response response = get(path);
    EXPECT_EQ(response.status, 404U) << path;
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_THAT(body_of(response), HasSubstr("\"/metrics\""));
  }
}

TEST_F(RoutesTest, OnlyGetAndHeadAreAllowed) {
  EXPECT_EQ(routes_.handle({.method = "HEAD", .path = "/-/healthy"}).status, 200U);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"}) {
    const Response response = routes_.handle({.method = method, .path = "/metrics"});
    EXPECT_EQ(response.status, 405U) << method;
    EXPECT_THAT(response.headers, ElementsAre(Pair("Allow", "GET, HEAD")));
  }
}

}  // namespace
}  // namespace offcpud
