// SPDX-License-Identifier: Apache-2.0
#include "export/routes.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "export/flame_page.h"
#include "export/prometheus_text.h"
#include "export/stalls_json.h"
#include "export/top_json.h"
#include "export/top_query.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kJson = "application/json";
constexpr const char* kPagePolicy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Response plain(unsigned status, std::string sentence) {
  return {.status = status, .content_type = kPlainText, .body = std::move(sentence) + '\n'};
}

Response json(unsigned status, const Json& value) {
  return {.status = status,
          .content_type = kJson,
          .body = value.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'};
}

Response error(unsigned status, const std::string& sentence) {
  return json(status, {{"error", sentence}});
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr const char* kNoPass = "no pass over the kernel maps has completed yet; try again shortly";

constexpr const char* kNoSnapshots =
    "stacks are not sampled; set snapshots.enabled to true and restart offcpud";

std::string in_seconds(std::chrono::nanoseconds duration) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return std::to_string(whole.count()) + " s";
}

}  // namespace

struct Routes::Route {
  const char* path;
  const char* what;  // null: a part of another page, no link to it
  Response (Routes::*answer)(const Request& request) const;
};

const Routes::Route Routes::kRoutes[] = {
    {"/", "This page", &Routes::page},
    {"/flame", "Flame graph of the kept snapshots", &Routes::flame},
    {"/flame.css", nullptr, &Routes::flame},
    {"/flame.js", nullptr, &Routes::flame},
    {"/metrics", "Histograms and counters for Prometheus", &Routes::metrics},
    {"/-/healthy", "200 while the daemon runs", &Routes::healthy},
    {"/-/ready", "200 while the numbers are current", &Routes::ready},
    {"/api/v1/status", "State of the daemon as JSON", &Routes::status},
    {"/api/v1/stalls", "Blocks that last too long, as JSON", &Routes::stalls},
    {"/api/v1/top", "Processes by the time they wait, as JSON", &Routes::top},
    {"/api/v1/snapshots", "Kept snapshots of stacks, as JSON", &Routes::snapshots},
    {"/api/v1/snapshots/merge", "Stacks of a range of time", &Routes::merge},
    {"/api/v1/snapshots/difference", "Stacks of two ranges of time", &Routes::difference},
    {"/debug/pprof/offcpu", "Stacks of the time to come, as pprof", &Routes::profile},
};

Routes::Routes(RouteSources sources, RouteOptions options, const Clock& clock)
    : sources_(std::move(sources)), options_(options), clock_(clock) {}

Response Routes::handle(const Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    Response refused = error(405, "method " + request.method + " is not allowed; use GET or HEAD");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  for (const Route& route : kRoutes) {
    if (request.path == route.path) return (this->*route.answer)(request);
  }
  return not_found(request);
}

Response Routes::metrics(const Request&) const {
  std::shared_ptr<const View> view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  auto text = std::make_shared<PrometheusText>(std::move(view), options_.classic_buckets,
                                               sources_.self_metrics());
  return {.content_type = std::string(PrometheusText::kContentType),
          .body = [text](std::span<char> buffer) { return text->read(buffer); }};
}

Response Routes::healthy(const Request&) const {
  return plain(200, "offcpud is running.");
}

Response Routes::ready(const Request&) const {
  const auto view = sources_.view(Freshness::Last);
  if (!view) return error(503, "offcpud is not ready: no pass over the kernel maps has completed");
  const auto age = clock_.now() - view->taken;
  if (age > options_.stale_after) {
    return error(503, "offcpud is not ready: the last pass over the kernel maps was " +
                          in_seconds(age) + " ago, more than " + in_seconds(options_.stale_after));
  }
  return plain(200, "offcpud is ready.");
}

Response Routes::status(const Request&) const {
  return {.content_type = kJson, .body = status_json(sources_.status())};
}

Response Routes::stalls(const Request& request) const {
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  auto body = stalls_json(*view, request.query);
  if (!body) return error(400, body.error().message());
  return {.content_type = kJson, .body = *std::move(body)};
}

Response Routes::top(const Request& request) const {
  const auto query = TopQuery::parse(request.query);
  if (!query) return error(400, query.error().message());
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  return {.content_type = kJson, .body = top_json(*view, *query, suspended_time())};
}

Response Routes::snapshots(const Request& request) const {
  return sources_.snapshots ? sources_.snapshots->list(request) : error(503, kNoSnapshots);
}

Response Routes::merge(const Request& request) const {
  return sources_.snapshots ? sources_.snapshots->merge(request) : error(503, kNoSnapshots);
}

Response Routes::difference(const Request& request) const {
  return sources_.snapshots ? sources_.snapshots->difference(request) : error(503, kNoSnapshots);
}

Response Routes::profile(const Request& request) const {
  return sources_.snapshots ? sources_.snapshots->profile(request) : error(503, kNoSnapshots);
}

Response Routes::flame(const Request& request) const {
  return flame_page(request.path);
}

Response Routes::page(const Request&) const {
  const StatusReport report = sources_.status();
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>offcpud</title>\n</head>\n<body>\n<main>\n<h1>offcpud " +
      escape_html(report.version) +
      "</h1>\n<p>Why threads are not running: off-CPU and run-queue histograms of this host.</p>\n"
      "<p>" +
      escape_html(status_line(report)) + "</p>\n<ul>\n";
  for (const Route& route : kRoutes) {
    if (route.what == nullptr || std::string_view(route.path) == "/") continue;
    html.append("<li><a href=\"").append(route.path).append("\">").append(route.path);
    html.append("</a>: ").append(route.what).append("</li>\n");
  }
  html += "</ul>\n</main>\n</body>\n</html>\n";
  return {.content_type = kHtml,
          .body = std::move(html),
          .headers = {{"Content-Security-Policy", kPagePolicy}}};
}

Response Routes::not_found(const Request& request) {
  Json paths = Json::array();
  for (const Route& route : kRoutes) paths.push_back(route.path);
  return json(404, {{"error", "there is nothing at " + request.path}, {"paths", paths}});
}

}  // namespace offcpud
