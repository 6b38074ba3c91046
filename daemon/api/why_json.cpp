// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/holder_state.h"
#include "api/json_or_null.h"
#include "api/releasers_json.h"
#include "api/why_answer.h"
#include "base/no_unit.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 11> kKinds = {"for",  "unit",   "remote", "device",
                                                "self", "kernel", "others", "nobody",
                                                "runs", "busy",   "unknown"};
constexpr std::array<const char*, 7> kDeeds = {"waits", "runs",    "sleeps", "idles",
                                               "loads", "unknown", "end"};
static_assert(static_cast<std::size_t>(Cause::Kind::Unknown) + 1 == kKinds.size());
static_assert(static_cast<std::size_t>(WhyHop::Does::End) + 1 == kDeeds.size());

const char* name_of(Cause::Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

Json site_json(const Cause::Site& site) {
  return {{"site", text_or_null(site.site)},
          {"threads", site.threads},
          {"error", site.error},
          {"lasting", site.lasting},
          {"oldest_seconds",
           site.oldest.ns > 0 ? Json(static_cast<double>(site.oldest.ns) * 1e-9) : Json(nullptr)},
          {"oldest_estimated", site.oldest.estimated}};
}

// null: no holder is known.
Json holder_json(const std::shared_ptr<const UnitHolder>& holder) {
  if (!holder) return nullptr;
  Json json = {{"lock", holder->lock},
               {"by", holder->by},
               {"process", text_or_null(holder->process)},
               {"pid", number_or_null(holder->pid)},
               {"thread", text_or_null(holder->thread)},
               {"tid", number_or_null(holder->tid)},
               {"waiting", holder->waiting}};
  append_deed(json, holder->does, holder->age);
  return json;
}

// null: it is no device.
Json load_json(const std::shared_ptr<const DeviceLoad>& load) {
  if (!load) return nullptr;
  constexpr std::array<const char*, 4> kLoaders = {"unit", "kernel", "others", "unknown"};
  Json by = Json::array();
  for (const DeviceLoad::Part& part : load->parts) {
    by.push_back({{"kind", kLoaders.at(static_cast<std::size_t>(part.kind))},
                  {"unit", text_or_null(part.unit)},
                  {"own", part.own},
                  {"share", part.share},
                  {"at_a_time", load->is_timed ? Json(part.at_a_time) : Json(nullptr)},
                  {"requests_per_second", part.requests},
                  {"read_bytes_per_second", part.read},
                  {"written_bytes_per_second", part.written}});
  }
  return {{"share_of", load->is_timed ? "time" : "bytes"},
          {"at_a_time", load->is_timed ? Json(load->at_a_time) : Json(nullptr)},
          {"missing", text_or_null(load->because)},
          {"by", std::move(by)}};
}

// `all`: what shares are of.
Json cause_json(const UnitCauses& unit, const Cause& cause, double all, double seconds) {
  Json json = {{"kind", name_of(cause.kind)},
               {"for", name_of_for(cause.for_kind)},
               {"name", text_or_null(cause.name)},
               {"process", text_or_null(cause.process)},
               {"pid", number_or_null(cause.pid)},
               {"threads", cause.threads},
               {"seconds", cause.threads * seconds},
               {"share", all > 0 ? Json(cause.threads / all) : Json(nullptr)},
               {"error", cause.error},
               {"because", text_or_null(cause.because)},
               {"over", cause.over},
               {"holder", holder_json(cause.holder)},
               {"released_by", releasers_json(cause.released)},
               {"load", load_json(cause.load)},
               {"evidence", text_or_null(evidence_for(unit.unit, cause))}};
  if (cause.kind == Cause::Kind::For && !cause.sites.empty()) {
    Json sites = Json::array();
    for (const Cause::Site& site : cause.sites) sites.push_back(site_json(site));
    json["sites"] = std::move(sites);
  }
  Json parts = Json::array();
  for (const Cause& part : cause.parts) parts.push_back(cause_json(unit, part, all, seconds));
  json["parts"] = std::move(parts);
  return json;
}

Json unit_json(const UnitCauses& unit, double seconds) {
  Json json = {{"unit", unit.unit},         {"actionable", unit.actionable}, {"error", unit.error},
               {"over", unit.over},         {"unknown", unit.unknown},       {"idle", unit.idle},
               {"children", unit.children}, {"running", unit.running},       {"gone", unit.gone}};
  Json causes = Json::array();
  for (const Cause& cause : unit.causes) {
    const double all = is_actionable_for(cause.for_kind) ? unit.actionable : 0;
    causes.push_back(cause_json(unit, cause, all, seconds));
  }
  json["causes"] = std::move(causes);
  return json;
}

Json hop_json(const WhyHop& hop, std::size_t depth, bool end) {
  return {{"depth", depth},
          {"kind", name_of(hop.kind)},
          {"name", text_or_null(hop.name)},
          {"process", text_or_null(hop.process)},
          {"pid", number_or_null(hop.pid)},
          {"does", kDeeds.at(static_cast<std::size_t>(hop.does))},
          {"for", name_of_for(hop.for_kind)},
          {"site", text_or_null(hop.site)},
          {"threads", hop.threads},
          {"share", hop.share > 0 ? Json(hop.share) : Json(nullptr)},
          {"queued", hop.queued > 0 ? Json(hop.queued) : Json(nullptr)},
          {"or_queued", hop.or_queued},
          {"busy", hop.busy},
          {"behind", text_or_null(hop.behind)},
          {"attributed", hop.attributed},
          {"because", text_or_null(hop.because)},
          {"over", hop.over},
          {"holder", holder_json(hop.holder)},
          {"end", end}};
}

// The sentence in pieces, so that a page can make links of the units.
Json parts_json(const WhyVerdict& verdict) {
  Json parts = Json::array();
  std::string_view rest = verdict.sentence;
  for (const WhyHop& hop : verdict.path.hops) {
    if (hop.kind != Cause::Kind::Unit) continue;
    const std::string said = in_sentence(hop.name);
    const std::size_t at = said.empty() ? std::string_view::npos : rest.find(said);
    if (at == std::string_view::npos) continue;
    if (at > 0) parts.push_back({{"text", rest.substr(0, at)}});
    Json part = {{"unit", hop.name}};
    if (said != hop.name) part["text"] = said;
    parts.push_back(std::move(part));
    rest.remove_prefix(at + said.size());
  }
  if (!rest.empty()) parts.push_back({{"text", rest}});
  return parts;
}

Json verdict_json(const WhyVerdict& verdict) {
  Json hops = Json::array();
  for (std::size_t i = 0; i < verdict.path.hops.size(); ++i) {
    hops.push_back(hop_json(verdict.path.hops[i], i, i + 1 == verdict.path.hops.size()));
  }
  return {
      {"unit", verdict.unit},
      {"for", name_of_for(verdict.for_kind)},
      {"threads", verdict.threads},
      {"error", verdict.error},
      {"stuck", verdict.stuck},
      {"over", verdict.over},
      {"over_within_seconds", verdict.over ? Json(verdict.over_within) : Json(nullptr)},
      {"culprit", text_or_null(verdict.culprit)},
      {"culprit_attributed", verdict.culprit.empty() ? Json(nullptr) : Json(verdict.attributed)},
      {"because", text_or_null(verdict.because)},
      {"sentence", verdict.sentence},
      {"parts", parts_json(verdict)},
      {"hops", std::move(hops)}};
}

Json graph_json(const WaitGraph& graph) {
  std::map<std::string, std::pair<const char*, double>> nodes;  // kind, threads that wait for it
  Json edges = Json::array();
  for (const WaitEdge& edge : graph.edges) {
    nodes.try_emplace(edge.from, "unit", 0.0);
    const bool unit = edge.kind == Cause::Kind::Unit;
    const auto to = nodes.try_emplace(edge.to, unit ? "unit" : name_of(edge.kind), 0.0).first;
    to->second.second += edge.threads;
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"for", name_of_for(edge.for_kind)},
                     {"threads", edge.threads},
                     {"error", edge.error}});
  }
  Json list = Json::array();
  for (const auto& [name, node] : nodes) {
    list.push_back({{"name", name}, {"kind", node.first}, {"waited_for", node.second}});
  }
  return {{"nodes", std::move(list)},
          {"edges", std::move(edges)},
          {"left_out", graph.left_out},
          {"unknown", graph.unknown}};
}

Json goroutines_json(const WhyGoroutines& goroutines) {
  Json rows = Json::array();
  for (const UnitGoroutines& row : goroutines.rows) {
    rows.push_back(
        {{"unit", row.unit},
         {"program", text_or_null(row.program)},
         {"pid", number_or_null(row.pid)},
         {"for", name_of(row.wait_for)},
         {"site", text_or_null(row.site)},
         {"reason", text_or_null(row.reason)},
         {"function", text_or_null(row.function)},
         {"goroutines", row.goroutines},
         {"seconds", row.goroutines * goroutines.seconds},
         {"now", row.now},
         {"at_least_seconds",
          row.longest_ns > 0 ? Json(static_cast<double>(row.longest_ns) * 1e-9) : Json(nullptr)}});
  }
  return {{"window_seconds", goroutines.seconds}, {"waits", std::move(rows)}};
}

template <class Row>
Json source_json(const Source<Row>& source) {
  return {{"seconds", source.seconds},
          {"missing", source.known() ? Json(nullptr) : Json(source.missing)},
          {"left_out", source.left_out}};
}

Json chains_json(const WhyInputs& inputs) {
  Json json = source_json(inputs.chains);
  if (inputs.no_room_for_chains) json["missing"] = "too many other processes waited longer";
  return json;
}

}  // namespace

std::string why_json(const WhyAnswer& answer) {
  const WhyInputs& inputs = answer.inputs;
  const double seconds = inputs.sites.known() ? inputs.sites.seconds : inputs.cpus.seconds;
  Json json = {{"taken", rfc3339(answer.taken)},
               {"window_seconds", seconds},
               {"details", answer.details},
               {"sources",
                {{"sites", source_json(inputs.sites)},
                 {"cpus", source_json(inputs.cpus)},
                 {"peers", source_json(inputs.peers)},
                 {"takers", source_json(inputs.takers)},
                 {"holders", source_json(inputs.holders)},
                 {"chains", chains_json(inputs)},
                 {"loads", source_json(inputs.loads)}}}};
  json["total"] = unit_json(answer.total, seconds);
  json["total"].erase("unit");
  json["total"].erase("causes");
  json["total"].erase("error");
  json["total"].erase("gone");
  Json list = Json::array();
  for (const WhyVerdict& verdict : answer.verdicts) list.push_back(verdict_json(verdict));
  json["verdicts"] = std::move(list);
  json["more_units"] = answer.more_units;
  json["unnamed"] = answer.unnamed;
  Json units = Json::array();
  for (const UnitCauses& tree : answer.trees) units.push_back(unit_json(tree, seconds));
  json["units"] = std::move(units);
  json["graph"] = graph_json(answer.graph);
  json["goroutines"] = goroutines_json(answer.goroutines);
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
