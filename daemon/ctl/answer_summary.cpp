// SPDX-License-Identifier: Apache-2.0
#include "ctl/answer_summary.h"

#include <exception>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "base/printable.h"
#include "ctl/sampling_bound.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

std::string seconds_text(const Json& seconds) {
  return duration_text(seconds.get<double>());
}

std::string when_text(const Json& time) {
  return printable(time.get_ref<const std::string&>());
}

// Such as "10 min (10 snapshots, 2026-11-20T12:00:00Z to 2026-11-20T12:10:00Z)".
std::string range_text(const Json& part) {
  std::string text = seconds_text(part.at("covered_seconds")) + " (";
  if (part.at("snapshots") != 1) text += part.at("snapshots").dump() + " snapshots, ";
  return text + when_text(part.at("begin")) + " to " + when_text(part.at("end")) + ")";
}

std::string amount_text(const Json& part) {
  const Json& error = part.at("standard_error_seconds");
  std::string text = seconds_text(part.at("off_cpu_seconds")) + " blocked";
  if (error >= 0.0005) text += " (standard error " + seconds_text(error) + ")";
  return text;
}

std::string gaps_text(const Json& part) {
  std::string text;
  if (part.at("unreadable") != 0) {
    text += "; snapshots that could not be read: " + part.at("unreadable").dump();
  }
  if (part.value("partial", false)) text += "; offcpud stopped within this time";
  if (const double lost = part.value("lost_of_any_seconds", 0.0); lost > 0) {
    text += "; no stacks were kept of " + seconds_text(lost) +
            " on this host; some may belong to this answer";
  }
  for (const Json& filter : part.at("captured")) {
    text += "; captured with " + printable(filter.get_ref<const std::string&>()) + " only";
  }
  return text;
}

}  // namespace

std::string summary_sentence(const std::string& summary) {
  if (summary.empty()) return {};
  try {
    const Json parsed = Json::parse(summary);
    const bool nothing = parsed.at("off_cpu_seconds") == 0;
    std::string text = nothing ? "no matching wait was sampled" : amount_text(parsed);
    text += " in " + range_text(parsed);
    if (nothing) text += sampling_bound(parsed);
    text += gaps_text(parsed);
    if (parsed.contains("base")) {
      const Json& base = parsed.at("base");
      text += "; compared with " + amount_text(base) + " in " + range_text(base) + gaps_text(base);
    }
    return text;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace offcpud
