// SPDX-License-Identifier: Apache-2.0
#include "api/routes.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "api/error_response.h"
#include "api/flame_page.h"
#include "api/known_units.h"
#include "api/stalls_json.h"
#include "api/top_json.h"
#include "api/top_query.h"
#include "api/unit_query.h"
#include "api/units_json.h"
#include "api/why_handler.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "base/utc.h"
#include "metrics/prometheus_protobuf.h"
#include "metrics/prometheus_text.h"
#include "pipeline/past_view.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

Response plain(unsigned status, std::string sentence) {
  return {.status = status, .content_type = kPlainText, .body = std::move(sentence) + '\n'};
}

Response json(unsigned status, const Json& value) {
  return {.status = status,
          .content_type = kJson,
          .body = value.dump(2, ' ', true, Json::error_handler_t::replace) + '\n'};
}

// Browsers name text/html in Accept; others get text, also with "*/*" (curl) or without the field.
bool wants_html(std::string accept) {
  std::transform(accept.begin(), accept.end(), accept.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return accept.find("text/html") != std::string::npos;
}

constexpr const char* kNoPass = "no pass over the kernel maps has completed yet; try again shortly";

constexpr const char* kNoSnapshots =
    "stacks are not sampled; set snapshots.enabled to true and restart offcpud";

constexpr const char* kBadHistograms =
    "parameter histograms: use native, or both for classic buckets as well";

constexpr const char* kNoGzip =
    "too many compressed answers are not read; allow identity in Accept-Encoding, or try again "
    "shortly";
constexpr const char* kNoCoding =
    "Accept-Encoding refuses every coding of /metrics; allow gzip or identity";

std::string_view content_type_of(ExpositionFormat format) {
  return format == ExpositionFormat::Text ? PrometheusText::kContentType
                                          : PrometheusProtobuf::kContentType;
}

}  // namespace

struct Routes::Route {
  const char* path;
  Shows shows;
  const char* what;  // null: a part of another page, not listed
  Response (Routes::*answer)(const Request& request) const;
};

const Routes::Route Routes::kRoutes[] = {
    {"/", Shows::Numbers, "Who waits on this host, for browsers; this list for others",
     &Routes::page},
    {"/overview.css", Shows::Numbers, nullptr, &Routes::page},
    {"/overview.js", Shows::Numbers, nullptr, &Routes::page},
    {"/flame", Shows::Details, "Flame graph of the kept snapshots", &Routes::flame},
    {"/flame.css", Shows::Details, nullptr, &Routes::flame},
    {"/flame.js", Shows::Details, nullptr, &Routes::flame},
    {"/metrics", Shows::Numbers, "Histograms and counters for Prometheus", &Routes::metrics},
    {"/-/healthy", Shows::Numbers, "200 while the daemon runs", &Routes::healthy},
    {"/-/ready", Shows::Numbers, "200 while the numbers are current", &Routes::ready},
    {"/api/v1/status", Shows::Numbers, "State of the daemon as JSON", &Routes::status},
    {"/api/v1/stalls", Shows::Details, "Blocks that last too long, as JSON", &Routes::stalls},
    {"/api/v1/top", Shows::Details, "Processes by the time they wait, as JSON", &Routes::top},
    {"/api/v1/units", Shows::Numbers, "Units by the time they wait, as JSON", &Routes::units},
    {"/api/v1/changes", Shows::Numbers, "What waits longer or shorter than before, as JSON",
     &Routes::changes},
    {"/api/v1/why", Shows::Numbers, "Why units wait, and who is to blame, as JSON", &Routes::why},
    {"/api/v1/goroutines", Shows::Details, "What the goroutines of a process wait for, as JSON",
     &Routes::goroutines},
    {"/api/v1/snapshots", Shows::Details, "Kept snapshots of stacks, as JSON", &Routes::snapshots},
    {"/api/v1/snapshots/merge", Shows::Details, "Stacks of a range of time", &Routes::merge},
    {"/api/v1/snapshots/difference", Shows::Details, "Stacks of two ranges of time",
     &Routes::difference},
    {"/debug/pprof/offcpu", Shows::Details, "Stacks of the next seconds, as pprof",
     &Routes::profile},
};

Routes::Routes(RouteSources sources, RouteOptions options, const Clock& clock)
    : sources_(std::move(sources)), options_(options), clock_(clock) {}

bool Routes::is_detail(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (path == route.path) return route.shows == Shows::Details;
  }
  return false;
}

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

Response Routes::metrics(const Request& request) const {
  ExpositionOptions options{.format = preferred_format(request.accept),
                            .classic_buckets = options_.classic_buckets,
                            .with_details = request.sees_details};
  // Ignores other parameters: a scrape configuration for several exporters may send them.
  const auto histograms = request.query.find("histograms");
  if (histograms != request.query.end()) {
    options.with_classic = histograms->second == "both";
    if (!options.with_classic && histograms->second != "native") return error(400, kBadHistograms);
  }
  const auto coding = preferred_coding(request.accept_encoding);
  if (!coding) return error(406, kNoCoding);
  const auto gzip = *coding == ContentCoding::Gzip ? sources_.gzip.take(request.peer) : nullptr;
  if (!gzip && !allows_identity(request.accept_encoding)) return error(503, kNoGzip);
  const std::shared_ptr<const View> view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  BodyStream body =
      scrape_body(view, options, sources_.self_metrics,
                  gzip ? ContentCoding::Gzip : ContentCoding::Identity, sources_.scrape_costs);
  Response response{
      .content_type = std::string(content_type_of(options.format)),
      .body = [gzip, body = std::move(body)](std::span<char> buffer) { return body(buffer); },
      .headers = {{"Vary", "Accept, Accept-Encoding"}}};
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

Response Routes::healthy(const Request&) const {
  return plain(200, "offcpud is running.");
}

Response Routes::ready(const Request& request) const {
  if (const auto stuck = sources_.threads ? sources_.threads->stuck() : std::nullopt) {
    const WallTime since =
        clock_.wall() - std::chrono::duration_cast<WallTime::duration>(stuck->longest);
    return error(503, "offcpud is not ready: its " + sentence_of(*stuck, request.sees_addresses) +
                          ", more than " + duration_text(stuck->limits.stuck) +
                          (stuck->busy == stuck->longest ? ", since " + rfc3339(since) : ""));
  }
  const auto view = sources_.view(Freshness::Last);
  if (!view) return error(503, "offcpud is not ready: no pass over the kernel maps has completed");
  const auto age = clock_.now() - view->taken;
  if (age > options_.stale_after) {
    return error(503, "offcpud is not ready: the last pass over the kernel maps was " +
                          duration_text(age) + " ago, more than " +
                          duration_text(options_.stale_after));
  }
  return plain(200, "offcpud is ready.");
}

Response Routes::status(const Request& request) const {
  return {.content_type = kJson, .body = status_json(status_for(request))};
}

StatusReport Routes::status_for(const Request& request) const {
  StatusReport report = sources_.status();
  report.access = {.details = request.sees_details, .addresses = request.sees_addresses};
  // The subject may be the path of a file that not everybody may know of.
  if (!request.sees_addresses) {
    for (ThreadState& thread : report.threads) thread.subject.clear();
  }
  return request.sees_details ? report : without_details(std::move(report));
}

std::optional<Response> Routes::no_such_cgroup(const View& view, const Request& request) const {
  const auto known = check_cgroup(view, request.query, sources_.is_live_cgroup);
  if (known) return std::nullopt;
  return error(404, known.error().message());
}

Response Routes::stalls(const Request& request) const {
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  auto body = stalls_json(*view, request.query, {request.sees_addresses, sources_.address_names});
  if (!body) return error(400, body.error().message());
  if (auto refused = no_such_cgroup(*view, request)) return *std::move(refused);
  return {.content_type = kJson, .body = *std::move(body)};
}

Response Routes::top(const Request& request) const {
  const auto query = TopQuery::parse(request.query);
  if (!query) return error(400, query.error().message());
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  if (auto refused = no_such_cgroup(*view, request)) return *std::move(refused);
  return {.content_type = kJson, .body = top_json(*view, *query, suspended_time())};
}

Response Routes::units(const Request& request) const {
  const auto query = UnitQuery::parse(request.query, clock_.wall());
  if (!query) return error(400, query.error().message());
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  if (auto refused = no_such_cgroup(*view, request)) return *std::move(refused);
  const auto then = query->to ? std::make_optional(view_until(*view, *query->to)) : std::nullopt;
  return {.content_type = kJson,
          .body = units_json(then ? *then : *view, *query, request.sees_details)};
}

Response Routes::changes(const Request& request) const {
  if (!sources_.changes) return error(503, kNoSnapshots);
  auto view = sources_.view(Freshness::Fresh);  // a pass adds to the history
  return sources_.changes->changes(request, std::move(view), sources_.cpu_history());
}

Response Routes::why(const Request& request) const {
  const auto view = sources_.view(Freshness::Fresh);
  if (!view) return error(503, kNoPass);
  return why_response(request, *view, sources_.is_live_cgroup);
}

Response Routes::goroutines(const Request& request) const {
  return sources_.goroutines ? sources_.goroutines->goroutines(request) : error(503, kNoSnapshots);
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

// Checks the unit before anybody waits for the profile.
Response Routes::profile(const Request& request) const {
  if (request.query.contains("cgroup")) {
    const auto view = sources_.view(Freshness::Fresh);
    if (auto refused = view ? no_such_cgroup(*view, request) : std::nullopt) {
      return *std::move(refused);
    }
  }
  return sources_.snapshots ? sources_.snapshots->profile(request) : error(503, kNoSnapshots);
}

Response Routes::flame(const Request& request) const {
  return flame_page(request.path);
}

Response Routes::page(const Request& request) const {
  if (request.path != "/") return overview_page(request.path);
  Response page = wants_html(request.accept) ? overview_page("/") : directory(request);
  page.headers.emplace_back("Vary", "Accept");
  return page;
}

// Lists the paths as text.
Response Routes::directory(const Request& request) const {
  const StatusReport report = status_for(request);
  std::string text = "offcpud " + printable(report.version) + ": why threads are not running\n" +
                     printable(status_line(report)) + "\n\n";
  for (const Route& route : kRoutes) {
    if (route.what != nullptr) text.append(route.path).append("  ").append(route.what).append("\n");
  }
  return {.content_type = kPlainText, .body = std::move(text)};
}

Response Routes::not_found(const Request& request) {
  Json paths = Json::array();
  for (const Route& route : kRoutes) paths.push_back(route.path);
  return json(404, {{"error", "there is nothing at " + request.path}, {"paths", paths}});
}

}  // namespace offcpud
