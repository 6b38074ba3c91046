// SPDX-License-Identifier: Apache-2.0
#include "api/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "http/response_headers.h"
#include "snapshot/gzip.h"
#include "support/metric_families.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
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

  // Without the daemon's own metrics, which are no protobuf here.
  static std::vector<test::DecodedFamily> families_of(const Response& response) {
    std::string bytes = body_of(response);
    EXPECT_TRUE(bytes.ends_with(kOwn));
    bytes.resize(bytes.size() - kOwn.size());
    return test::decode_families(bytes);
  }

  static constexpr std::string_view kOwn = "own_metric 1\n";
  FixedClock clock_;
  ThreadWatch threads_{clock_};
  std::shared_ptr<const View> view_ = test::hostile_view();
  StatusReport report_;
  std::vector<Freshness> asked_;
  ScrapeCosts costs_;
  Routes routes_{{.view =
                      [this](Freshness freshness) {
                        asked_.push_back(freshness);
                        return view_;
                      },
                  .status = [this] { return report_; },
                  .self_metrics = [](SeriesWriter& out) { out.bytes() += kOwn; },
                  .is_live_cgroup = [](std::string_view path) { return path == "/idle.slice"; },
                  .scrape_costs = &costs_,
                  .threads = &threads_},
                 {},
                 clock_};
};

TEST_F(RoutesTest, MetricsAreFreshTextOfTheView) {
  const Response response =
      routes_.handle({.method = "GET", .path = "/metrics", .sees_details = true});
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(body_of(response), test::render(view_, 28, "own_metric 1\n"));
  EXPECT_THAT(asked_, ElementsAre(Freshness::Fresh));
}

// The same as in /api/v1/why of the same client.
TEST_F(RoutesTest, MetricsTellWhomUnitsWaitOnOnlyToWhoMaySeeDetails) {
  Request request{.method = "GET", .path = "/metrics", .sees_details = true};
  const std::string all = body_of(routes_.handle(request));
  EXPECT_THAT(all, HasSubstr(",on=\"remote:[2001:db8::1]:443\"}"));
  request.sees_details = false;
  const std::string numbers = body_of(routes_.handle(request));
  EXPECT_THAT(numbers, Not(HasSubstr("offcpud_waited_on_seconds_total{")));
  EXPECT_THAT(numbers, Not(HasSubstr("# HELP offcpud_waited_on_seconds_total")));
  EXPECT_THAT(numbers, Not(HasSubstr(",on=\"")));
  EXPECT_THAT(numbers, HasSubstr("\noffcpud_wait_seconds_count{"));
  EXPECT_THAT(numbers, HasSubstr("\noffcpud_kept_off_seconds_total{")) << "which is told to all";

  request.accept =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
      "encoding=delimited";
  const auto has_it = [&] {
    return std::ranges::any_of(families_of(routes_.handle(request)), [](const auto& family) {
      return family.name == "offcpud_waited_on_seconds_total";
    });
  };
  EXPECT_FALSE(has_it());
  request.sees_details = true;
  EXPECT_TRUE(has_it());
}

TEST_F(RoutesTest, AThreadThatIsStuckMakesItNotReady) {
  const auto writer = threads_.add("writer", {.stuck = 60s, .hopeless = {}});
  const auto push = threads_.add("push", {.stuck = 1s, .needed = false});
  clock_.time = view_->taken + 1s;
  push->begin("pushing a snapshot");
  writer->begin("writing a snapshot", "/secret");
  clock_.time += 20s;
  EXPECT_EQ(get("/-/ready").status, 200U) << "nobody depends on push";
  view_ = std::make_shared<const View>(View{.taken = clock_.time + 40s});
  clock_.time += 41s;
  EXPECT_EQ(get("/-/ready").status, 503U);
  EXPECT_THAT(body_of(get("/-/ready")),
              HasSubstr("offcpud is not ready: its thread writer has been writing a snapshot for "
                        "1 min 1 s, more than 1 min, since "));
  EXPECT_THAT(body_of(routes_.handle({.method = "GET", .path = "/-/ready", .sees_details = true})),
              Not(HasSubstr("/secret")));
  EXPECT_THAT(
      body_of(routes_.handle(
          {.method = "GET", .path = "/-/ready", .sees_details = true, .sees_addresses = true})),
      HasSubstr("writing a snapshot (/secret) for 1 min 1 s"));
  writer->end();
  EXPECT_THAT(body_of(get("/-/ready")),
              HasSubstr("was writing a snapshot for 1 min 1 s until a moment ago"));
  clock_.time += 61s;
  view_ = std::make_shared<const View>(View{.taken = clock_.time});
  EXPECT_EQ(get("/-/ready").status, 200U);
}

TEST_F(RoutesTest, ACgroupThatIsNotThereIsAMistakeToTell) {
  for (const char* path :
       {"/api/v1/top", "/api/v1/stalls", "/api/v1/units", "/debug/pprof/offcpu"}) {
    const auto ask = [&](const char* cgroup) {
      return routes_.handle({.method = "GET", .path = path, .query = {{"cgroup", cgroup}}});
    };
    const Response unknown = ask("ngnix.service");
    EXPECT_EQ(unknown.status, 404U) << path;
    EXPECT_THAT(body_of(unknown),
                AllOf(HasSubstr("no cgroup of this host belongs to a unit called "
                                "\\\"ngnix.service\\\""),
                      HasSubstr("`systemctl list-units` lists units, /api/v1/units "
                                "those that were measured")));
    // There are no snapshots here: who gets so far is told that.
    const unsigned known = std::string_view(path) == "/debug/pprof/offcpu" ? 503 : 200;
    EXPECT_EQ(ask("nginx.service").status, known) << path;
    const Response gone = ask("/no/such/path");
    EXPECT_EQ(gone.status, 404U) << path;
    EXPECT_THAT(body_of(gone),
                HasSubstr("no cgroup of this host is \\\"/no/such/path\\\" or below it; "));
    EXPECT_THAT(body_of(gone), Not(HasSubstr("begins below")));
    EXPECT_THAT(body_of(ask("/idle.slice/new.service")),
                HasSubstr("; to see what begins below \\\"/idle.slice\\\", ask for that"));
    for (const char* there : {"/", "/idle.slice", "/idle.slice/", "(other)"}) {
      EXPECT_EQ(ask(there).status, known) << path << " " << there;
    }
    for (const char* without : {"/idle.slice/(removed)", "/(removed)", "/x(removed)"}) {
      EXPECT_EQ(ask(without).status, 404U) << path << " " << without << ": there is no such sum";
    }
    if (known == 200) {
      EXPECT_EQ(ask("a/b").status, 400U) << path;
    }
  }
}

TEST_F(RoutesTest, ASumOfRemovedCgroupsIsThereWhileItHasASeries) {
  View view = *view_;
  view.subjects.push_back(
      {.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup("/gone.slice/(removed)"))});
  view_ = std::make_shared<const View>(std::move(view));
  for (const char* cgroup : {"/gone.slice/(removed)", "/gone.slice"}) {
    const Request request{.method = "GET", .path = "/api/v1/top", .query = {{"cgroup", cgroup}}};
    EXPECT_EQ(routes_.handle(request).status, 200U) << cgroup;
  }
}

TEST_F(RoutesTest, MetricsAreProtobufForWhoPrefersIt) {
  const Response response = routes_.handle({.method = "GET",
                                            .path = "/metrics",
                                            .accept = "application/vnd.google.protobuf;q=0.9, "
                                                      "text/plain;q=0.8"});
  EXPECT_EQ(response.content_type,
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited");
  EXPECT_THAT(response.headers, ElementsAre(Pair("Vary", "Accept, Accept-Encoding")));
  const auto families = families_of(response);
  EXPECT_EQ(families.front().name, "offcpud_blocked_seconds");
  EXPECT_TRUE(families.front().metrics[0].histogram->buckets.empty());
}

TEST_F(RoutesTest, ProtobufHasClassicBucketsOnRequest) {
  Request request{.method = "GET",
                  .path = "/metrics",
                  .query = {{"histograms", "both"}, {"collect[]", "x"}},
                  .accept = "application/vnd.google.protobuf"};
  const auto families = families_of(routes_.handle(request));
  EXPECT_EQ(families.front().metrics[0].histogram->buckets.size(), 28U);
  request.query = {{"histograms", "classic"}};
  EXPECT_EQ(routes_.handle(request).status, 400U);
}

TEST_F(RoutesTest, MetricsAreCompressedForWhoAcceptsIt) {
  Request request{
      .method = "GET", .path = "/metrics", .accept_encoding = "gzip", .sees_details = true};
  const Response response = routes_.handle(request);
  EXPECT_THAT(response.headers, ElementsAre(Pair("Vary", "Accept, Accept-Encoding"),
                                            Pair("Content-Encoding", "gzip")));
  const auto text = gunzip(body_of(response), 1 << 20);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, test::render(view_, 28, "own_metric 1\n"));
  request.accept_encoding = "identity;q=0";
  EXPECT_EQ(routes_.handle(request).status, 406U);
}

// A third of a MiB each, as long as the client does not read.
TEST_F(RoutesTest, SoManyAnswersAreCompressedAtATime) {
  Request request{
      .method = "GET", .path = "/metrics", .accept_encoding = "gzip", .sees_details = true};
  std::vector<Response> unread;
  for (int i = 0; i < 8; ++i) {
    request.peer = std::to_string(i);
    unread.push_back(routes_.handle(request));
    EXPECT_THAT(unread.back().headers, testing::Contains(Pair("Content-Encoding", "gzip")));
  }
  const Response plain = routes_.handle(request);
  EXPECT_THAT(plain.headers, ElementsAre(Pair("Vary", "Accept, Accept-Encoding")));
  EXPECT_EQ(body_of(plain), test::render(view_, 28, "own_metric 1\n"));
  request.accept_encoding = "gzip, identity;q=0";
  EXPECT_EQ(routes_.handle(request).status, 503U);
  unread.pop_back();
  EXPECT_EQ(routes_.handle(request).status, 200U);
}

TEST_F(RoutesTest, WhoReadsNothingLeavesOthersTheirCompressedAnswers) {
  Request greedy{.method = "GET", .path = "/metrics", .accept_encoding = "gzip", .peer = "a"};
  std::vector<Response> unread(100);
  for (Response& each : unread) each = routes_.handle(greedy);
  Request other = greedy;
  other.peer = "b";
  EXPECT_THAT(routes_.handle(other).headers, testing::Contains(Pair("Content-Encoding", "gzip")));
}

TEST_F(RoutesTest, TheCostOfAScrapeIsThatOfTheLastOneReadToItsEnd) {
  EXPECT_FALSE(costs_.last()[0]);
  const Response unread = get("/metrics");
  EXPECT_FALSE(costs_.last()[0]);
  const std::string text = body_of(routes_.handle(
      {.method = "GET", .path = "/metrics", .accept_encoding = "gzip", .sees_details = true}));
  const auto cost = costs_.last()[0];
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, test::render(view_, 28, "own_metric 1\n").size());
  EXPECT_EQ(cost->sent_bytes, text.size());
  EXPECT_GT(cost->duration, 0ns);
  EXPECT_FALSE(costs_.last()[1]);
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

TEST_F(RoutesTest, ErrorsAndAddressesAreForThoseWhoSeeDetails) {
  report_.last_pass = LastPass{2s, 3ms};
  report_.config.last_reload_successful = false;
  report_.config.last_reload_error = "reload /etc/token";
  report_.push = PushStatus{.url = "https://pyroscope.example/ingest",
                            .queued = 3,
                            .queued_bytes = 12'345,
                            .last_success = {},
                            .last_error = "answer of pyroscope.example"};
  for (const char* path : {"/api/v1/status", "/"}) {
    const std::string all =
        body_of(routes_.handle({.method = "GET", .path = path, .sees_details = true}));
    EXPECT_THAT(all, AllOf(HasSubstr("reload /etc/token"), HasSubstr("answer of pyroscope")));
    const std::string some = body_of(get(path));
    EXPECT_THAT(some, AllOf(HasSubstr("the journal says why"), HasSubstr("3 snapshots not pushed"),
                            Not(HasSubstr("/etc/token")), Not(HasSubstr("pyroscope"))));
  }
  EXPECT_THAT(body_of(get("/api/v1/status")),
              AllOf(HasSubstr("\"url\": null"), HasSubstr("\"queued_bytes\": 12345"),
                    HasSubstr("\"last_reload_successful\": false")));
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

TEST_F(RoutesTest, UnitsAreFreshJson) {
  const Response response = get("/api/v1/units");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(body_of(response), HasSubstr("\"window_seconds\":0.0"));
  EXPECT_THAT(asked_, ElementsAre(Freshness::Fresh));
  EXPECT_EQ(
      routes_.handle({.method = "GET", .path = "/api/v1/units", .query = {{"w", "5s"}}}).status,
      400U);
  const auto until = [this](const char* to) {
    return routes_.handle({.method = "GET", .path = "/api/v1/units", .query = {{"to", to}}}).status;
  };
  EXPECT_EQ(until("2026-11-20T12:00:00Z"), 200U);
  EXPECT_EQ(until("later"), 400U);
  view_ = nullptr;
  EXPECT_EQ(get("/api/v1/units").status, 503U);
}

TEST_F(RoutesTest, BrowsersGetAPageThatMayLoadItsOwnPartsOnly) {
  for (const char* accept : {"text/html,application/xhtml+xml,*/*;q=0.8", "Text/HTML"}) {
    const Response page = routes_.handle({.method = "GET", .path = "/", .accept = accept});
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_THAT(body_of(page), HasSubstr("<script src=\"overview.js\" defer>"));
    EXPECT_THAT(page.headers,
                Contains(Pair("Content-Security-Policy",
                              AllOf(HasSubstr("default-src 'none'; script-src 'self'; "),
                                    Not(HasSubstr("unsafe")), Not(HasSubstr("\n"))))));
    EXPECT_THAT(page.headers, Contains(Pair("Vary", "Accept")));
  }
  EXPECT_EQ(get("/overview.css").content_type, "text/css; charset=utf-8");
  EXPECT_EQ(get("/overview.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(body_of(get("/overview.js")), Not(HasSubstr("\nimport ")));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoutesTest, OthersGetTextThatSaysWhatIsWhere) {
  report_.version = "<script>\n";
  for (const char* accept : {"", "*/*", "text/plain"}) {
    const Response response = routes_.handle({.method = "GET", .path = "/", .accept = accept});
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    const std::string text = body_of(response);
    EXPECT_THAT(text, HasSubstr("offcpud <script>\\x0a: why"));
    for (const char* path : {"/metrics", "/flame", "/-/ready", "/api/v1/status", "/api/v1/units"}) {
      EXPECT_THAT(text, HasSubstr("\n" + std::string(path) + "  "));
    }
    EXPECT_THAT(text, Not(HasSubstr(".js")));
  }
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
  EXPECT_EQ(get("/flame.css").content_type, "text/css; charset=utf-8");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoutesTest, StacksProcessesAndThreadsAreDetails) {
  for (const char* path :
       {"/flame", "/flame.js", "/api/v1/top", "/api/v1/stalls", "/api/v1/snapshots",
        "/api/v1/snapshots/merge", "/api/v1/snapshots/difference", "/api/v1/goroutines",
        "/debug/pprof/offcpu"}) {
    EXPECT_TRUE(Routes::is_detail(path)) << path;
  }
  for (const char* path :
       {"/", "/overview.js", "/metrics", "/-/healthy", "/-/ready", "/api/v1/status",
        "/api/v1/units", "/api/v1/changes", "/api/v1/why", "/x"}) {
    EXPECT_FALSE(Routes::is_detail(path)) << path;
  }
  // What is not a detail by its spelling is not served either.
  for (const char* path : {"//api/v1/top", "/api/v1/top/", "/API/v1/top", "/x/../api/v1/top"}) {
    EXPECT_EQ(get(path).status, 404U) << path;
  }
}

// Of a new path, too: its handler may forget to ask who may see details.
TEST_F(RoutesTest, NumbersSayNeitherWhichProcessesThereAreNorWhomUnitsWaitOn) {
  std::istringstream list(body_of(get("/")));
  std::set<std::string> asked;
  for (std::string line; std::getline(list, line);) {
    const std::string path = line.substr(0, line.find(' '));
    if (!path.starts_with('/') || Routes::is_detail(path)) continue;
    asked.insert(path);
    EXPECT_THAT(body_of(get(path)), AllOf(Not(HasSubstr("not exported")), Not(HasSubstr("db8::1"))))
        << path;
  }
  EXPECT_THAT(asked, IsSupersetOf({"/", "/metrics", "/api/v1/units", "/api/v1/why"}));
  EXPECT_THAT(body_of(get("/api/v1/top")), HasSubstr("not exported")) << "the view has it";
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
