// SPDX-License-Identifier: Apache-2.0
// The server over real sockets, with the routes behind it.
#include "http/http_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "api/routes.h"
#include "unit/http/http_client.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::connect_to;
using test::fetch;
using test::receive_all;
using test::send_text;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Bodies of about 4 MB, so that a client that does not read fills every buffer on the way.
std::shared_ptr<const View> large_view() {
  auto view = std::make_shared<View>();
  const auto histogram = test::histogram_of({1'000, 2'000'000, 3'000'000'000});
  for (int i = 0; i < 150; ++i) {
    SubjectSeries series =
        test::subject_of("/system.slice/service" + std::to_string(i) + ".service");
    series.histograms.fill(histogram);
    view->subjects.push_back(std::move(series));
  }
  return view;
}

struct Serving {
  std::string address;
  std::unique_ptr<HttpServer> http;  // null when it could not be started
};

Serving serve(const std::string& address, Respond respond, HttpLimits limits = {}) {
  auto listener = open_listener(address);
  if (!listener) {
    ADD_FAILURE() << listener.error().message();
    return {};
  }
  std::string bound = listener->address().text();
  auto server = HttpServer::start(std::move(*listener), std::move(respond), limits);
  if (!server) {
    ADD_FAILURE() << server.error().message();
    return {};
  }
  return {std::move(bound), std::move(*server)};
}

class HttpServerTest : public ::testing::Test {
 protected:
  [[nodiscard]] Respond respond() const {
    return [this](const Request& request) { return routes_.handle(request); };
  }
  void start(HttpLimits limits = {}) {
    server_ = serve("127.0.0.1:0", respond(), limits);
    ASSERT_TRUE(server_.http);
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return fetch(server_.address, "GET " + path);
  }

  SystemClock clock_;
  std::shared_ptr<const View> view_ = large_view();
  Routes routes_{{.view = [this](Freshness) { return view_; },
                  .status = [] { return StatusReport{}; },
                  .self_metrics = [](SeriesWriter& out) { out.bytes() += "own_metric 1\n"; }},
                 {},
                 clock_};
  Serving server_;
};

TEST_F(HttpServerTest, MetricsArriveWhole) {
  start();
  const std::string response = get("/metrics");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(response.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_TRUE(test::unchunk(response) == test::render(view_, 28, "own_metric 1\n"));
}

// The service manager's is handed to one daemon after the other.
TEST_F(HttpServerTest, ASocketOfSomebodyElseGoesOnListening) {
  const auto held = open_listener("127.0.0.1:0");
  ASSERT_TRUE(held) << held.error().message();
  const std::string address = held->address().text();
  const auto serve_held = [&] {
    auto listener = adopt_listener(UniqueFd(::fcntl(held->fd(), F_DUPFD_CLOEXEC, 0)));
    auto server = HttpServer::start(*std::move(listener), respond());
    EXPECT_TRUE(server) << server.error().message();
    return *std::move(server);
  };
  {
    const auto first = serve_held();
    EXPECT_THAT(fetch(address, "GET /-/healthy"), StartsWith("HTTP/1.1 200 "));
  }
  const UniqueFd between = connect_to(address);
  ASSERT_TRUE(between);
  send_text(between.get(), "GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const auto second = serve_held();
  EXPECT_THAT(receive_all(between.get()), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, WhoHasAskedWhenItEndsIsAnswered) {
  std::latch asked(1);
  Serving server = serve("127.0.0.1:0", [&](const Request&) {
    asked.count_down();
    std::this_thread::sleep_for(20ms);  // the end begins meanwhile
    return Response{.body = "whole"};
  });
  const UniqueFd client = connect_to(server.address);
  send_text(client.get(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  asked.wait();
  server.http.reset();
  EXPECT_THAT(receive_all(client.get()), ::testing::EndsWith("\r\n\r\nwhole"));
}

TEST_F(HttpServerTest, ItsOwnSocketEndsWithIt) {
  start();
  server_.http.reset();
  EXPECT_FALSE(connect_to(server_.address));
}

TEST_F(HttpServerTest, HeadHasTheHeadersAndNoBody) {
  start();
  for (const char* path : {"/metrics", "/-/healthy", "/api/v1/top?limit=1"}) {
    const std::string response = fetch(server_.address, std::string("HEAD ") + path);
    EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(response, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_TRUE(response.ends_with("\r\n\r\n")) << response;
  }
}

TEST_F(HttpServerTest, ErrorsHaveTheRightStatus) {
  start();
  EXPECT_THAT(get("/nothing?here=1"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(get("/%2e%2e/etc/passwd"), StartsWith("HTTP/1.1 404 "));
  const std::string refused = fetch(server_.address, "DELETE /metrics");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(refused, HasSubstr("Allow: GET, HEAD\r\n"));
}

TEST_F(HttpServerTest, TheQueryArrivesDecoded) {
  std::multimap<std::string, std::string> seen;
  const Serving server = serve("127.0.0.1:0", [&](const Request& request) {
    seen = request.query;
    return Response{.body = request.path};
  });
  const std::string response =
      fetch(server.address, "GET /top?cgroup=%2Fa%20b%26c+d&pid=7&pid=8&flag&empty=&nul=a%00b");
  EXPECT_TRUE(response.ends_with("\r\n\r\n/top")) << response;
  const std::multimap<std::string, std::string> expected = {
      {"cgroup", "/a b&c d"}, {"pid", "7"},  {"pid", "8"},
      {"flag", ""},           {"empty", ""}, {"nul", std::string("a\0b", 3)}};
  EXPECT_EQ(seen, expected);
}

TEST_F(HttpServerTest, ABodyIsRefusedWithoutReadingIt) {
  start();
  for (const char* head : {"Content-Length: 1000000", "Transfer-Encoding: chunked"}) {
    const UniqueFd client = connect_to(server_.address);
    send_text(client.get(), std::string("GET / HTTP/1.1\r\nHost: a\r\n") + head + "\r\n\r\n");
    EXPECT_THAT(receive_all(client.get()), StartsWith("HTTP/1.1 413 "));
  }
}

TEST_F(HttpServerTest, HeadsThatAreTooLargeOrBrokenAreRefused) {
  start();
  const UniqueFd large = connect_to(server_.address);
  send_text(large.get(),
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_THAT(receive_all(large.get()), StartsWith("HTTP/1.1 431 "));
  const UniqueFd long_path = connect_to(server_.address);
  send_text(long_path.get(), "GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(receive_all(long_path.get()), StartsWith("HTTP/1.1 414 "));
  const UniqueFd no_host = connect_to(server_.address);
  send_text(no_host.get(), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(receive_all(no_host.get()), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(get("/-/healthy"), StartsWith("HTTP/1.1 200 "));
}

// What stands behind such a head may be a request to one reader and a body to another.
TEST_F(HttpServerTest, AmbiguousRequestsAreRefusedAndWhatFollowsIsNotRun) {
  start();
  for (const char* fields :
       {"Content-Length: 0\r\nContent-Length: 46", "Content-Length: 46\r\nContent-Length: 0",
        "Content-Length: 0\r\nTransfer-Encoding: chunked", "Content-Length: 00", "Host: b"}) {
    const UniqueFd client = connect_to(server_.address);
    send_text(client.get(), std::string("GET / HTTP/1.1\r\nHost: a\r\n") + fields +
                                "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string answer = receive_all(client.get());  // until it is closed
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << fields;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << fields << answer;
  }
}

TEST_F(HttpServerTest, TooManyParametersAreRefusedWithAnAnswer) {
  start();
  const auto path_with = [](int parameters) {
    std::string path = "/-/healthy?a=%00";
    for (int i = 1; i < parameters; ++i) path += "&a=%00";
    return path;
  };
  EXPECT_THAT(get(path_with(256)), StartsWith("HTTP/1.1 200 "));
  for (const int parameters : {257, 1'000, 5'000}) {
    const std::string answer = get(path_with(parameters));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 414 ")) << parameters;
    EXPECT_THAT(answer, HasSubstr("256 parameters")) << parameters;
  }
}

TEST_F(HttpServerTest, AConnectionServesSeveralRequests) {
  start();
  const UniqueFd client = connect_to(server_.address);
  const std::string request = "GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n";
  send_text(client.get(),
            request + request + "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string responses = receive_all(client.get());
  EXPECT_TRUE(responses.ends_with("\r\n0\r\n\r\n"));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = responses.find("HTTP/1.1 200 OK", at)) != std::string::npos;
       ++at) {
    ++count;
  }
  EXPECT_EQ(count, 3U);
}

TEST_F(HttpServerTest, SixteenSlowClientsDoNotDelayAScrape) {
  start();
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 16; ++i) {
    slow.push_back(connect_to(server_.address));
    ASSERT_TRUE(slow.back());
    // Half of them never finish the head, half never read the body.
    send_text(slow.back().get(),
              i % 2 == 0 ? "GET /metrics HT" : "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  std::jthread dripping([&slow](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < slow.size(); i += 2) send_text(slow[i].get(), "T");
      std::this_thread::sleep_for(10ms);
    }
  });
  const auto start_time = std::chrono::steady_clock::now();
  EXPECT_TRUE(get("/metrics").ends_with("\r\n0\r\n\r\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, 2s);
}

TEST_F(HttpServerTest, AThousandIdleConnectionsDoNotDelayAScrape) {
  start();
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 1'000; ++i) {
    idle.push_back(connect_to(server_.address));
    ASSERT_TRUE(idle.back()) << i;
    if (i % 2 == 0) send_text(idle.back().get(), "GET /metrics HTTP/1.1\r\nHost: a\r\n");
    if (i % 100 != 99) continue;
    const auto start_time = std::chrono::steady_clock::now();
    EXPECT_TRUE(get("/metrics").ends_with("\r\n0\r\n\r\n")) << i;
    EXPECT_LT(std::chrono::steady_clock::now() - start_time, 3s) << i;
  }
  // The oldest made room.
  EXPECT_TRUE(test::is_closed_within(idle.front().get(), 5s));
  EXPECT_FALSE(test::is_closed_within(idle.back().get(), 0ms));
}

// More than the library accepts, and so new that a little earlier nobody would be cut off for
// others.
TEST_F(HttpServerTest, NewResponsesThatNobodyReadsDoNotDelayAScrape) {
  start({.connections = {.slow_after = 60s, .response_grace = 60s}});
  std::vector<UniqueFd> unread;
  for (int i = 0; i < 250; ++i) {
    unread.push_back(connect_to(server_.address));
    ASSERT_TRUE(unread.back()) << i;
    send_text(unread.back().get(), "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    if (!test::is_readable_within(unread.back().get(), 1s)) break;  // until it accepts no more
  }
  const auto start_time = std::chrono::steady_clock::now();
  EXPECT_TRUE(get("/metrics").ends_with("\r\n0\r\n\r\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, 2s);
  EXPECT_EQ(unread.size(), 250U);
}

TEST_F(HttpServerTest, AnAnswerThatComesLaterMayComeLaterStill) {
  const Serving server = serve("127.0.0.1:0", [](const Request&) -> Response {
    return {.body = Later{[](const Later::Done& password) {
              password([]() -> Response {
                return {.body = Later{[](const Later::Done& stacks) {
                          stacks([] { return Response{.body = "both"}; });
                        }}};
              });
            }}};
  });
  const std::string response = fetch(server.address, "GET /");
  EXPECT_TRUE(response.ends_with("\r\n\r\nboth")) << response;
}

TEST_F(HttpServerTest, ADrippingClientIsCutOffAtTheDeadline) {
  start({.request = 500ms});
  const UniqueFd client = connect_to(server_.address);
  const std::string head = "GET /-/healthy HTTP/1.1\r\nX: ";
  // Bytes are counted, not seconds: a host that stands still for a while sends none. Five seconds
  // of them are ten deadlines.
  constexpr std::size_t kMost = 5s / 20ms;
  std::size_t bytes = 0;
  for (bool open = true; open && bytes < kMost; ++bytes) {
    send_text(client.get(), bytes < head.size() ? head.substr(bytes, 1) : "x");
    open = !test::is_closed_within(client.get(), 20ms);
  }
  EXPECT_LT(bytes, kMost);
}

TEST_F(HttpServerTest, ConcurrentScrapesAllGetTheWholeText) {
  start();
  const std::string expected = test::render(view_, 28, "own_metric 1\n");
  std::atomic<int> whole = 0;
  {
    std::vector<std::jthread> scrapers(8);
    for (std::jthread& scraper : scrapers) {
      scraper = std::jthread([&] {
        for (int round = 0; round < 3; ++round) whole += test::unchunk(get("/metrics")) == expected;
      });
    }
  }
  EXPECT_EQ(whole, 24);
}

TEST_F(HttpServerTest, ServesIpv6) {
  if (auto probe = open_listener("[::1]:0"); !probe) GTEST_SKIP() << probe.error().message();
  const auto server = serve("[::1]:0", respond());
  ASSERT_TRUE(server.http);
  EXPECT_THAT(server.address, StartsWith("[::1]:"));
  EXPECT_THAT(fetch(server.address, "GET /-/healthy"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, ServesAUnixSocket) {
  const std::string path = ::testing::TempDir() + "offcpud-http-" + std::to_string(::getpid());
  const auto server = serve("unix:" + path, respond());
  ASSERT_TRUE(server.http);
  EXPECT_THAT(fetch(server.address, "GET /-/healthy"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, KnowsWhoIsAtTheOtherEndOfAUnixSocket) {
  std::optional<PeerCredentials> seen;
  const auto remember = [&](const Request& request) {
    seen = request.credentials;
    return Response{.body = request.peer};
  };
  const std::string path = ::testing::TempDir() + "offcpud-peer-" + std::to_string(::getpid());
  const auto local = serve("unix:" + path, remember);
  ASSERT_TRUE(local.http);
  const std::string answer = fetch(local.address, "GET /");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->uid, ::geteuid());
  EXPECT_THAT(seen->groups, ::testing::Contains(::getegid()));
  EXPECT_TRUE(answer.ends_with("uid " + std::to_string(::geteuid()))) << answer;
  const auto remote = serve("127.0.0.1:0", remember);
  ASSERT_TRUE(remote.http);
  fetch(remote.address, "GET /");
  EXPECT_FALSE(seen);
}

TEST_F(HttpServerTest, StopsAtOnceWithOpenConnections) {
  start();
  const UniqueFd idle = connect_to(server_.address);
  const UniqueFd half = connect_to(server_.address);
  send_text(half.get(), "GET /metr");
  const UniqueFd unread = connect_to(server_.address);
  send_text(unread.get(), "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  (void)get("/-/healthy");
  const std::string address = server_.address;
  const auto start_time = std::chrono::steady_clock::now();
  server_.http.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, 1s);
  EXPECT_FALSE(connect_to(address));
}

TEST(HttpServer, PassesTheRequestOn) {
  Request seen;
  const auto server = serve("127.0.0.1:0", [&seen](const Request& request) {
    seen = request;
    return Response{.content_type = "text/plain", .body = "ok"};
  });
  ASSERT_TRUE(server.http);
  const UniqueFd client = connect_to(server.address);
  send_text(client.get(),
            "GET /a%20b?x=1%262&flag HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(receive_all(client.get()), HasSubstr("Content-Length: 2\r\n"));
  EXPECT_EQ(seen.method, "GET");
  EXPECT_EQ(seen.path, "/a b");
}

TEST(HttpServer, AnExceptionBecomesStatus500) {
  const auto server =
      serve("127.0.0.1:0", [](const Request&) -> Response { throw std::runtime_error("secret"); });
  ASSERT_TRUE(server.http);
  const std::string response = fetch(server.address, "GET /");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(response, Not(HasSubstr("secret")));
}

TEST(HttpServer, ABodyThatFailsHalfWayIsNotTakenForWhole) {
  const auto server = serve("127.0.0.1:0", [](const Request&) {
    auto calls = std::make_shared<int>(0);
    return Response{.content_type = "text/plain",
                    .body = [calls](std::span<char> buffer) -> std::size_t {
                      if (++*calls > 1) throw std::runtime_error("secret");
                      buffer.front() = 'x';
                      return 1;
                    }};
  });
  ASSERT_TRUE(server.http);
  EXPECT_THAT(fetch(server.address, "GET /"), Not(HasSubstr("\r\n0\r\n")));
}

}  // namespace
}  // namespace offcpud
