// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "api/goroutines_answer.h"
#include "base/clock.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(GoStack::End end) {
  switch (end) {
    case GoStack::End::Root:
      return "root";
    case GoStack::End::Depth:
      return "depth";
    case GoStack::End::More:
    case GoStack::End::Lost:
      break;
  }
  return "lost";
}

Json group_json(const GoroutineGroup& group) {
  Json json = {{"goroutines", group.number}, {"reason", group.reason}};
  json["at_least_seconds"] = group.longest ? Json(in_seconds(*group.longest)) : Json();
  json["runtime"] = group.is_runtime;
  json["end"] = group.has_stack ? Json(name_of(group.end)) : Json();
  json["functions"] = group.functions;
  return json;
}

}  // namespace

std::string goroutines_json(const GoroutineReport& report) {
  const GoroutineLook& look = report.look;
  Json groups = Json::array();
  for (const GoroutineGroup& group : report.groups.shown) groups.push_back(group_json(group));
  const Json json = {
      {"pid", report.pid},
      {"program", report.program},
      {"go", report.version},
      {"seconds", in_seconds(report.took)},
      {"all", look.all},
      {"looked_at", look.looked_at},
      {"waiting", look.waiting.size()},
      {"running", look.running},
      {"runnable", look.runnable},
      {"in_system_call", look.in_call},
      {"ended", look.ended},
      {"other", look.other},
      {"changed", look.changed},
      {"lost", look.lost},
      {"unreadable", look.unreadable},
      {"groups", std::move(groups)},
      {"groups_left_out", report.groups.left_out + report.groups.of_runtime_left_out}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace offcpud
