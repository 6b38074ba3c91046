// SPDX-License-Identifier: Apache-2.0
#include "ctl/status_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/lost_cause.h"
#include "base/printable.h"

namespace offcpud {
namespace {

using StatusJson = nlohmann::ordered_json;  // keeps the daemon's order

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kStatusIndent = 2;
constexpr std::size_t kMostOfAKind = 3;  // lines of one list

// Parses without exceptions; returns a discarded value if the text is not JSON. Drops levels that
// are too deep to be shown, because copying them would need unbounded stack.
StatusJson parsed(const std::string& json) {
  const auto keep = [](int depth, StatusJson::parse_event_t /*event*/, StatusJson& /*value*/) {
    return static_cast<std::size_t>(depth) < kDeepest + 4;
  };
  return StatusJson::parse(json, keep, false);
}

// Rounds to three digits, but keeps all digits before the point.
std::string rounded(double value) {
  std::array<char, 32> text{};
  const bool whole = value >= 100 && value < 1e15;
  const auto end =
      std::to_chars(text.begin(), text.end(), value,
                    whole ? std::chars_format::fixed : std::chars_format::general, whole ? 0 : 3)
          .ptr;
  return {text.begin(), end};
}

std::string scalar_text(const StatusJson& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  if (value.is_number_float()) return rounded(value.get<double>());
  return value.is_number_unsigned() ? count_text(value.get<std::uint64_t>()) : value.dump();
}

bool all_scalars(const StatusJson& list) {
  return std::none_of(list.begin(), list.end(),
                      [](const StatusJson& v) { return v.is_structured(); });
}

std::string list_text(const StatusJson& list) {
  std::string text;
  for (const StatusJson& value : list) text += (text.empty() ? "" : ", ") + scalar_text(value);
  return text.empty() ? "none" : text;
}

// "uptime_seconds": 90 is shown as "uptime  1 min 30 s".
constexpr struct {
  std::string_view suffix;
  std::string (*text)(double value);
} kUnits[] = {{"_seconds", duration_text}, {"_bytes", bytes_text}, {"_ratio", share_text}};

// Of the number's unit, which its name ends with; null: it has none.
const auto* unit_of(std::string_view name, const StatusJson& value) {
  const auto* const found = std::ranges::find_if(
      kUnits, [name](const auto& unit) { return name.ends_with(unit.suffix); });
  return value.is_number() && found != std::end(kUnits) ? found : nullptr;
}

std::string label_of(std::string_view name, const StatusJson& value) {
  if (const auto* const unit = unit_of(name, value)) name.remove_suffix(unit->suffix.size());
  return printable(name);
}

bool fits_one_line(const StatusJson& value) {
  return value.empty() || !value.is_structured() || (value.is_array() && all_scalars(value));
}

std::string line_text(std::string_view name, const StatusJson& value) {
  if (const auto* const unit = unit_of(name, value)) return unit->text(value.get<double>());
  if (name == "bytes" && value.is_number()) return bytes_text(value.get<double>());
  return value.is_structured() ? list_text(value) : scalar_text(value);
}

void append(std::string& out, const StatusJson& value, std::size_t depth);

void append_object(std::string& out, const StatusJson& object, std::size_t depth) {
  const std::string indent(depth * kStatusIndent, ' ');
  std::size_t width = 0;
  for (const auto& [name, value] : object.items()) {
    if (fits_one_line(value)) width = std::max(width, label_of(name, value).size());
  }
  for (const auto& [name, value] : object.items()) {
    std::string label = label_of(name, value);
    if (fits_one_line(value)) {
      label.resize(width, ' ');
      out += indent + label + "  " + line_text(name, value) + "\n";
    } else {
      out += indent + label + ":\n";
      append(out, value, depth + 1);
    }
  }
}

void append_list(std::string& out, const StatusJson& list, std::size_t depth) {
  const std::string indent(depth * kStatusIndent, ' ');
  for (const StatusJson& value : list) {
    if (fits_one_line(value)) {
      out += indent + "- " + line_text({}, value) + "\n";
      continue;
    }
    const std::size_t start = out.size();
    append(out, value, depth + 1);
    out[start + indent.size()] = '-';  // in the first line's indentation
  }
}

void append(std::string& out, const StatusJson& value, std::size_t depth) {
  if (depth > kDeepest) {
    out += std::string(depth * kStatusIndent, ' ') + "...\n";
  } else if (value.is_object()) {
    append_object(out, value, depth);
  } else {
    append_list(out, value, depth);
  }
}

bool is_feature(const StatusJson& value) {
  return value.is_object() && value.contains("name") && value.contains("detail") &&
         value.contains("enabled") && value["enabled"].is_boolean() && value["name"].is_string();
}

// A feature that is present is only named; for a missing one the text says what is lost and
// what to do.
void add_features(StatusJson& out, const StatusJson& features) {
  StatusJson enabled = StatusJson::array(), missing = StatusJson::object();
  for (const StatusJson& feature : features) {
    if (!is_feature(feature)) {
      out["features"] = features;
      return;
    }
    if (feature["enabled"].get<bool>()) {
      enabled.push_back(feature["name"]);
    } else {
      missing[feature["name"].get_ref<const std::string&>()] = feature["detail"];
    }
  }
  out["features"] = std::move(enabled);
  if (!missing.empty()) out["features_missing"] = std::move(missing);
}

bool is_thread(const StatusJson& value) {
  return value.is_object() && value.contains("thread") && value["thread"].is_string() &&
         value.contains("state") && value["state"].is_string();
}

// The sentence about each stuck thread; the others by their state, which is one word.
StatusJson threads_in_short(const StatusJson& threads) {
  StatusJson stuck = StatusJson::array(), by_state = StatusJson::object();
  for (const StatusJson& thread : threads) {
    if (!is_thread(thread)) return threads;
    const auto sentence = thread.find("sentence");
    if (sentence != thread.end()) {
      stuck.push_back(*sentence);
    } else {
      by_state[thread["state"].get_ref<const std::string&>()].push_back(thread["thread"]);
    }
  }
  if (!stuck.empty()) by_state["stuck"] = std::move(stuck);
  return by_state;
}

// The amount of one kind of trouble, and its line.
struct Trouble {
  double weight = 0;
  std::string name;
  StatusJson value;
};

// The worst ones, `most` or more; one more line says how many are left out, and where to find them.
// Never leaves out a single one, whose own line is as short.
StatusJson worst_of(std::vector<Trouble> all, std::size_t most = kMostOfAKind) {
  std::ranges::stable_sort(all, std::ranges::greater(), &Trouble::weight);
  StatusJson out = StatusJson::object();
  const std::size_t shown = all.size() <= most + 1 ? all.size() : most;
  for (std::size_t i = 0; i < all.size() && i < shown; ++i) {
    out[all[i].name] = std::move(all[i].value);
  }
  if (all.size() > shown) {
    out["and"] = std::to_string(all.size() - shown) + " more: offcpuctl status --json has all";
  }
  return out;
}

bool has_numbers(const StatusJson& value, std::initializer_list<const char*> names) {
  return value.is_object() && std::ranges::all_of(names, [&](const char* name) {
           return value.contains(name) && value[name].is_number();
         });
}

// All causes with losses: each takes something else from the numbers.
StatusJson losses_in_short(const StatusJson& losses) {
  if (!losses.is_object()) return losses;
  std::vector<Trouble> told;
  for (const auto& [cause, events] : losses.items()) {
    if (!events.is_number()) return losses;
    if (events != 0 && is_lost(cause)) told.push_back({events.get<double>(), cause, events});
  }
  return worst_of(std::move(told), losses.size());
}

// The fullest: "subjects  4 of 1024".
StatusJson maps_in_short(const StatusJson& maps) {
  if (!maps.is_array()) return maps;
  std::vector<Trouble> told;
  for (const StatusJson& map : maps) {
    if (!has_numbers(map, {"entries", "capacity"}) || !map.contains("map") ||
        !map["map"].is_string()) {
      return maps;
    }
    const double capacity = map["capacity"].get<double>();
    told.push_back({capacity > 0 ? map["entries"].get<double>() / capacity : 0,
                    map["map"].get<std::string>(),
                    scalar_text(map["entries"]) + " of " + scalar_text(map["capacity"])});
  }
  return worst_of(std::move(told));
}

// Processes with more mappings than their share: "process 7  70000 mappings, uid 1000".
StatusJson over_share_in_short(const StatusJson& processes) {
  if (!processes.is_array()) return processes;
  std::vector<Trouble> told;
  for (const StatusJson& one : processes) {
    if (!has_numbers(one, {"pid", "mappings"})) return processes;
    std::string text = scalar_text(one["mappings"]) + " mappings";
    if (has_numbers(one, {"uid"})) text += ", uid " + one["uid"].dump();
    told.push_back({one["mappings"].get<double>(), "process " + one["pid"].dump(), text});
  }
  return worst_of(std::move(told));
}

// The answer for people: without what is printed before it, and with everyday names.
StatusJson for_people(const StatusJson& status) {
  StatusJson out = StatusJson::object();
  for (const auto& [name, value] : status.items()) {
    if (name == "summary" || name == "waiting") continue;
    if (name == "features") {
      add_features(out, value);
    } else if (name == "threads") {
      out[name] = threads_in_short(value);
    } else if (name == "lost_events") {
      out[name] = losses_in_short(value);
    } else if (name == "maps") {
      out[name] = maps_in_short(value);
    } else if (name == "over_share") {
      out[name] = over_share_in_short(value);
    } else {
      out[name == "subjects" ? "cgroups" : name] = value;
    }
  }
  return out;
}

}  // namespace

Result<std::string> status_text(const std::string& json) {
  const StatusJson status = parsed(json);
  if (!status.is_object()) return Error("the answer is not a status of offcpud");
  std::string text;
  if (const auto waiting = status.find("waiting"); waiting != status.end() && waiting->is_array()) {
    for (const StatusJson& line : *waiting) {
      if (line.is_string()) text += scalar_text(line) + "\n";
    }
    if (!text.empty()) text += "\n";
  }
  if (const auto summary = status.find("summary"); summary != status.end()) {
    text += scalar_text(*summary) + "\n\n";
  }
  append(text, for_people(status), 0);
  return text;
}

std::string error_sentence(const std::string& json) {
  const StatusJson answer = parsed(json);
  if (!answer.is_object()) return {};
  const auto error = answer.find("error");
  return error != answer.end() && error->is_string() ? scalar_text(*error) : std::string();
}

}  // namespace offcpud
