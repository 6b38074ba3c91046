// SPDX-License-Identifier: Apache-2.0
#include "api/status_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/waiting_now.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/lost_cause.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kText = static_cast<std::size_t>(ExpositionFormat::Text);
constexpr auto kProtobuf = static_cast<std::size_t>(ExpositionFormat::Protobuf);

Json features_json(const std::vector<FeatureStatus>& features) {
  Json list = Json::array();
  for (const FeatureStatus& feature : features) {
    list.push_back(
        {{"name", feature.name}, {"enabled", feature.enabled}, {"detail", feature.detail}});
  }
  return list;
}

Json last_pass_json(const std::optional<LastPass>& pass) {
  if (!pass) return nullptr;
  return {{"age_seconds", in_seconds(pass->age)}, {"duration_seconds", in_seconds(pass->duration)}};
}

Json losses_json(const std::vector<LossCount>& losses) {
  Json by_cause = Json::object();
  for (const LossCount& loss : losses) by_cause[loss.cause] = loss.events;
  return by_cause;
}

Json maps_json(const std::vector<MapUsage>& maps) {
  Json list = Json::array();
  for (const MapUsage& usage : maps) {
    list.push_back({{"map", usage.map}, {"entries", usage.entries}, {"capacity", usage.capacity}});
  }
  return list;
}

Json over_share_json(const std::vector<OverShareStatus>& processes) {
  Json list = Json::array();
  for (const OverShareStatus& one : processes) {
    Json json = {{"pid", one.pid}, {"uid", nullptr}, {"mappings", one.mappings}};
    if (one.uid) json["uid"] = *one.uid;
    list.push_back(std::move(json));
  }
  return list;
}

Json scrape_json(const std::optional<ScrapeCost>& cost) {
  if (!cost) return nullptr;
  Json json = {{"series", cost->series}, {"samples", cost->samples}, {"bytes", cost->bytes}};
  if (cost->sent_bytes) json["sent_bytes"] = *cost->sent_bytes;
  json["duration_seconds"] = in_seconds(cost->duration);
  return json;
}

Json config_json(const ConfigStatus& config) {
  Json json = {{"files", config.files},
               {"wait_sites", {{"rules", config.site_rules}, {"sites", config.sites}}},
               {"last_reload_successful", config.last_reload_successful}};
  if (!config.last_reload_error.empty()) json["last_reload_error"] = config.last_reload_error;
  if (!config.needs_restart.empty()) json["needs_restart"] = config.needs_restart;
  if (!config.captured.empty()) json["snapshots_captured"] = config.captured;
  return json;
}

Json own_use_json(const std::optional<OwnUse>& use) {
  if (!use) return nullptr;
  Json json = {{"resident_bytes", use->resident_bytes},
               {"cpu_seconds", use->cpu_seconds},
               {"overhead_ratio", nullptr}};
  if (use->overhead_ratio) json["overhead_ratio"] = *use->overhead_ratio;
  return json;
}

Json push_json(const std::optional<PushStatus>& push) {
  if (!push) return nullptr;
  Json json = {{"url", nullptr},
               {"queued", push->queued},
               {"queued_bytes", push->queued_bytes},
               {"last_success", nullptr},
               {"last_error", nullptr}};
  if (!push->url.empty()) json["url"] = push->url;
  if (push->last_success) json["last_success"] = rfc3339(*push->last_success);
  if (!push->last_error.empty()) json["last_error"] = push->last_error;
  return json;
}

Json threads_json(const std::vector<ThreadState>& threads) {
  Json list = Json::array();
  for (const ThreadState& thread : threads) {
    Json json = {{"thread", thread.name},
                 {"state", thread.stuck ? "stuck" : (thread.busy ? "busy" : "idle")},
                 {"limit_seconds", in_seconds(thread.limits.stuck)}};
    if (!thread.work.empty()) json["work"] = thread.work;
    if (!thread.subject.empty()) json["subject"] = thread.subject;
    if (thread.busy) json["busy_seconds"] = in_seconds(*thread.busy);
    if (thread.stuck) json["sentence"] = sentence_of(thread, true);
    list.push_back(std::move(json));
  }
  return list;
}

Json readers_json(const std::optional<ReaderStatus>& readers) {
  if (!readers) return nullptr;
  return {{"hangs", readers->hangs}, {"refused", readers->refused}, {"stuck", readers->stuck}};
}

// "940 thousand", "2.0 million", "40 million"
std::string round_number(std::uint64_t number) {
  constexpr std::uint64_t kThousand = 1'000, kMillion = 1'000'000;
  if (number < 10 * kThousand) return count_text(number);
  if (number < kMillion) return count_text(number / kThousand) + " thousand";
  if (number < 10 * kMillion) {
    const std::uint64_t tenths = number / (kMillion / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " million";
  }
  return count_text(number / kMillion) + " million";
}

// ", 26 of them because process 1 is guarded (docs/kernel-support.md)"
std::string guard_text(const StatusReport& report) {
  if (report.losses_of_guard == 0) return {};
  return ", " + count_text(report.losses_of_guard) +
         " of them because process 1 is guarded (docs/kernel-support.md)";
}

// "0 events lost", "1,190 of 40 million events lost (0.003 %)"
std::string lost_text(const StatusReport& report) {
  std::uint64_t lost = 0;
  for (const LossCount& loss : report.losses) lost += is_lost(loss.cause) ? loss.events : 0;
  // The number of events is an estimate: of few it says nothing.
  if (lost == 0 || report.events < lost) return counted(lost, "event") + " lost";
  constexpr double kLeast = 0.001;
  const double share = 100 * static_cast<double>(lost) / static_cast<double>(report.events);
  std::array<char, 32> percent{};
  (void)std::snprintf(percent.data(), percent.size(), share < kLeast ? "below %.3f" : "%.3f",
                      std::max(share, kLeast));
  return count_text(lost) + " of " + round_number(report.events) + " events lost (" +
         percent.data() + " %)";
}

}  // namespace

void describe_view(StatusReport& report, const View& view, MonotonicTime now) {
  if (!report.last_pass) report.last_pass.emplace();
  report.last_pass->age = now - view.taken;
  report.waiting = waiting_now(view, false);
  report.waiting_sites = waiting_now(view, true);
  report.subjects = view.subjects.size();
  report.series = view.histogram_series;
  report.series_folded = view.folded_series;
  report.threads_left_censored = view.left_censored;
  report.losses = view.losses;
  report.events = 0;
  for (const ProgramCost& program : view.programs) report.events += program.runs;
  report.maps = view.maps;
}

StatusReport without_details(StatusReport report) {
  constexpr const char* kElsewhere = "the journal says why";
  if (!report.config.last_reload_error.empty()) report.config.last_reload_error = kElsewhere;
  for (ThreadState& thread : report.threads) thread.subject.clear();
  report.waiting_sites.clear();
  report.over_share.clear();
  if (report.push) {
    report.push->url.clear();
    if (!report.push->last_error.empty()) report.push->last_error = kElsewhere;
  }
  return report;
}

std::string status_json(const StatusReport& report) {
  const Json json = {
      {"waiting", report.waiting_sites.empty() ? report.waiting : report.waiting_sites},
      {"summary", status_line(report)},
      {"version", report.version},
      {"revision", report.revision},
      {"kernel", report.kernel},
      {"host", report.host},
      {"uptime_seconds", in_seconds(report.uptime)},
      {"listen", report.listen},
      {"local_socket", report.local_socket.empty() ? Json(nullptr) : Json(report.local_socket)},
      {"access", {{"details", report.access.details}, {"addresses", report.access.addresses}}},
      {"features", features_json(report.features)},
      {"last_pass", last_pass_json(report.last_pass)},
      {"passes", report.passes},
      {"pass_failures", report.pass_failures},
      {"subjects", report.subjects},
      {"series", report.series},
      {"series_folded", report.series_folded},
      {"max_series", report.max_series},
      {"scrape",
       {{"text", scrape_json(report.scrapes[kText])},
        {"protobuf", scrape_json(report.scrapes[kProtobuf])}}},
      {"threads_left_censored", report.threads_left_censored},
      {"events", report.events},
      {"lost_events", losses_json(report.losses)},
      {"maps", maps_json(report.maps)},
      {"threads", threads_json(report.threads)},
      {"over_share", over_share_json(report.over_share)},
      {"own_use", own_use_json(report.own_use)},
      {"push", push_json(report.push)},
      {"readers", readers_json(report.readers)},
      {"config", config_json(report.config)},
  };
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string scrape_line(const CostByFormat& scrapes) {
  const auto& text = scrapes[kText];
  const auto& protobuf = scrapes[kProtobuf];
  if (!text || !protobuf) return "no scrape so far";
  const auto size = [](const ScrapeCost& cost) {
    return counted(cost.samples, "sample") + " in " + bytes_text(static_cast<double>(cost.bytes));
  };
  return "a scrape of " + count_text(text->series) + " series is " + size(*text) + " as text, " +
         size(*protobuf) + " as protobuf";
}

std::string status_line(const StatusReport& report) {
  if (!report.last_pass) return "waiting for the first pass";
  std::string line = counted(report.subjects, "cgroup") + ", " + count_text(report.series) +
                     " series, " + lost_text(report) + guard_text(report) + ", last pass " +
                     duration_text(report.last_pass->age) + " ago";
  for (const ThreadState& thread : report.threads) {
    if (thread.stuck) line += "; " + sentence_of(thread, true);
  }
  if (!report.config.last_reload_successful) {
    line += "; running with the previous configuration: " + report.config.last_reload_error;
  }
  if (const std::size_t waiting = report.config.needs_restart.size(); waiting > 0) {
    line += "; " + counted(waiting, "setting") + " in the files that only a restart puts in force";
  }
  if (!report.over_share.empty()) {
    const OverShareStatus& most = report.over_share.front();
    line += "; stacks of process " + std::to_string(most.pid) +
            " and others with as many mappings "
            "may be incomplete";
  }
  if (report.readers && report.readers->stuck > 0) {
    line += "; " + counted(report.readers->stuck, "reader") +
            " stuck on a file or process that does not answer";
  }
  if (report.push && !report.push->last_error.empty()) {
    line +=
        "; " + counted(report.push->queued, "snapshot") + " not pushed: " + report.push->last_error;
  }
  return line;
}

}  // namespace offcpud
