// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_answer.h"

#include <exception>
#include <limits>
#include <nlohmann/json.hpp>

#include "ctl/whole_number.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

// The functions below throw as nlohmann::json does; parse_top_answer() catches.

// JSON has no infinity, so a missing bound is null.
double bound_of(const Json& row, const char* name) {
  const Json& value = row.at(name);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

void read_times(const Json& json, TopRow& row) {
  json.at("actionable_seconds").get_to(row.actionable);
  json.at("running_seconds").get_to(row.running);
  json.at("blocked_seconds").get_to(row.blocked);
  json.at("runqueue_seconds").get_to(row.runqueue);
}

TopWaits waits_of(const Json& json) {
  TopWaits waits;
  json.at("actionable").get_to(waits.actionable);
  json.at("error").get_to(waits.error);
  json.at("children").get_to(waits.children);
  json.at("idle").get_to(waits.idle);
  json.at("unknown").get_to(waits.unknown);
  for (const auto& [name, each] : json.at("for").items()) {
    waits.by_for[name] = {each.at("waiting").get<double>(), each.at("error").get<double>()};
  }
  for (const Json& each : json.at("sites")) {
    TopWaits::Site site;
    each.at("for").get_to(site.wait_for);
    if (const Json& name = each.at("site"); !name.is_null()) name.get_to(site.site);
    each.at("waiting").get_to(site.waiting);
    get_whole(each.at("lasting"), site.lasting);
    if (const Json& age = each.at("oldest_seconds"); !age.is_null()) age.get_to(site.oldest);
    site.estimated = each.value("oldest_estimated", false);
    waits.sites.push_back(std::move(site));
  }
  return waits;
}

// Missing or null: nothing is known.
void read_waits(const Json& json, TopRow& row) {
  const auto found = json.find("waits");
  if (found != json.end() && !found->is_null()) row.waits = waits_of(*found);
}

void read_names(const Json& json, TopRow& row) {
  if (const Json& pid = json.at("pid"); !pid.is_null()) get_whole(pid, row.pid);
  json.at("comm").get_to(row.comm);
  row.cgroup = json.value("cgroup", "");
  row.unit = json.value("unit", "");
}

TopRow process_of(const Json& json) {
  TopRow row;
  read_names(json, row);
  read_times(json, row);
  read_waits(json, row);
  get_whole(json.at("threads"), row.threads);
  if (const auto ended = json.find("ended_processes"); ended != json.end()) {
    get_whole(*ended, row.ended_processes);
  }
  row.p50 = bound_of(json, "p50_seconds");
  row.p99 = bound_of(json, "p99_seconds");
  row.max = bound_of(json, "max_seconds");
  if (const Json& oldest = json.at("oldest_blocked"); !oldest.is_null()) {
    oldest.at("reason").get_to(row.oldest_reason);
    oldest.at("seconds").get_to(row.oldest);
    row.oldest_estimated = oldest.value("estimated", false);
  }
  return row;
}

std::string taker_of(const Json& taker) {
  return taker.is_null() ? std::string() : taker.at("comm").get<std::string>();
}

TopRow thread_of(const Json& json) {
  TopRow row;
  read_names(json, row);
  read_times(json, row);
  get_whole(json.at("tid"), row.tid);
  get_whole(json.at("cpu"), row.cpu);
  json.at("pinned").get_to(row.pinned);
  row.state = json.value("reason", json.value("cause", json.at("state").get<std::string>()));
  if (const Json& age = json.at("state_seconds"); !age.is_null()) {
    row.state_seconds = age.get<double>();
  }
  row.state_estimated = json.value("state_estimated", false);
  row.waiting = json.value("waiting_seconds", 0.0);
  row.wait_for = json.value("for", "");
  if (const auto site = json.find("site"); site != json.end() && site->is_string()) {
    site->get_to(row.site);
  }
  json.at("kept_off_seconds").get_to(row.kept_off);
  row.last_taker = taker_of(json.at("last_taker"));
  if (const Json& longest = json.at("longest_wait"); !longest.is_null()) {
    longest.at("seconds").get_to(row.longest_wait);
    row.longest_taker = taker_of(longest.at("taker"));
  }
  return row;
}

TopRow totals_of(const Json& json) {
  TopRow row;
  read_times(json, row);
  read_waits(json, row);
  get_whole(json.at("threads"), row.threads);
  return row;
}

TopAnswer answer_of(const Json& json) {
  TopAnswer answer;
  if (const Json& interval = json.at("interval_seconds"); !interval.is_null()) {
    answer.interval = interval.get<double>();
  }
  if (const auto window = json.find("window"); window != json.end() && !window->is_null()) {
    answer.window = window->at("seconds").get<double>();
    answer.window_age = window->value("age_seconds", 0.0);
  }
  json.at("taken").get_to(answer.taken);
  answer.wait_for = json.value("for", "");
  const Json& totals = json.at("totals");
  answer.totals = totals_of(totals);
  get_whole(totals.at("processes"), answer.processes);
  const auto unusual = totals.find("unusual");
  if (unusual != totals.end() && !unusual->is_null()) get_whole(*unusual, answer.unusual);
  if (const auto selected = json.find("selected"); selected != json.end()) {
    answer.selected = totals_of(*selected);
  }
  get_whole(json.at("matching"), answer.matching);
  answer.of_threads = json.contains("threads");
  for (const Json& row : json.at(answer.of_threads ? "threads" : "processes")) {
    answer.rows.push_back(answer.of_threads ? thread_of(row) : process_of(row));
  }
  return answer;
}

}  // namespace

Result<TopAnswer> parse_top_answer(const std::string& json) {
  try {
    return answer_of(Json::parse(json));
  } catch (const std::exception&) {
    return Error("the answer is not a list of processes or threads of offcpud",
                 ErrorKind::Unsupported);
  }
}

}  // namespace offcpud
