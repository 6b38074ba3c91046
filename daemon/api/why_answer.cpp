// SPDX-License-Identifier: Apache-2.0
#include "api/why_answer.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "attribution/subject.h"

namespace offcpud {
namespace {

bool is_plain(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./@:-+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// How commands name the unit or process; empty: they cannot.
std::string selects(const std::string& unit) {
  const std::size_t pid = unit.rfind(" (pid ");
  if (pid != std::string::npos && unit.ends_with(')')) {
    return " --pid " + unit.substr(pid + 6, unit.size() - pid - 7);
  }
  return is_plain(unit) ? " --cgroup " + unit : std::string();
}

// Moves the worst verdict about what is stuck to the last of the first `limit` places, if it is
// behind them. A stuck thread may wait forever, so larger convoys must not hide all such verdicts.
void keep_one_stuck(std::vector<WhyVerdict>& verdicts, std::size_t limit) {
  const auto behind = verdicts.begin() + static_cast<std::ptrdiff_t>(limit);
  const auto stuck = std::ranges::find_if(verdicts, &WhyVerdict::stuck);
  if (limit < 2 || stuck < behind || stuck == verdicts.end()) return;
  std::rotate(behind - 1, stuck, stuck + 1);
}

// Keeps the first `limit` verdicts, and counts the units that have none then.
void limit_verdicts(WhyAnswer& answer, std::size_t limit) {
  answer.all_verdicts = answer.verdicts.size();
  if (answer.verdicts.size() <= limit) return;
  keep_one_stuck(answer.verdicts, limit);
  const auto first_left = answer.verdicts.begin() + static_cast<std::ptrdiff_t>(limit);
  std::set<std::string> told, left;
  for (auto each = answer.verdicts.begin(); each != answer.verdicts.end(); ++each) {
    if (each < first_left) told.insert(each->unit);
    if (each >= first_left && !told.contains(each->unit)) left.insert(each->unit);
  }
  answer.more_units = left.size();
  answer.verdicts.erase(first_left, answer.verdicts.end());
}

UnitCauses total_of(WhyUnits& trees, const std::vector<std::string>& units) {
  UnitCauses total;
  for (const std::string& unit : units) {
    const UnitCauses& tree = trees.of(unit);
    total.actionable += tree.actionable;
    total.over += tree.over;
    total.unknown += tree.unknown;
    total.idle += tree.idle;
    total.children += tree.children;
    total.running += tree.running;
  }
  return total;
}

// Verdicts of the whole host, and the trees of the units that they are about, in their order.
void add_of_host(WhyAnswer& answer, WhyUnits& trees, std::size_t limit) {
  answer.verdicts = verdicts(trees, std::numeric_limits<std::size_t>::max());
  limit_verdicts(answer, limit);
  std::set<std::string> told;
  for (const WhyVerdict& verdict : answer.verdicts) {
    if (told.insert(verdict.unit).second) answer.trees.push_back(trees.of(verdict.unit));
  }
}

// The trees of those units that wait most, their verdicts, and who waits for these units.
void add_of_units(WhyAnswer& answer, WhyUnits& trees, std::vector<std::string> units,
                  std::size_t limit) {
  std::ranges::stable_sort(units, {}, [&](const std::string& unit) {
    const UnitCauses& tree = trees.of(unit);
    return std::pair(tree.is_over(), -tree.actionable);
  });
  if (units.size() > limit) {
    answer.more_units = units.size() - limit;
    units.resize(limit);
  }
  for (const std::string& unit : units) {
    answer.trees.push_back(trees.of(unit));
    std::ranges::move(verdicts_of(trees, unit), std::back_inserter(answer.verdicts));
  }
  answer.dependents = dependents_of(trees, units);
  answer.all_verdicts = answer.verdicts.size();
}

}  // namespace

WhyAnswer why_answer(WhyInputs inputs, WallTime taken, const std::vector<std::string>& units,
                     bool whole_host, std::size_t limit, bool details) {
  WhyAnswer answer{.taken = taken, .whole_host = whole_host, .details = details};
  answer.inputs = std::move(inputs);
  WhyUnits trees(answer.inputs);
  answer.total = total_of(trees, whole_host ? units_in(answer.inputs) : units);
  answer.unnamed = trees.of(std::string(kOtherCgroup)).actionable;
  if (whole_host) {
    add_of_host(answer, trees, limit);
  } else {
    add_of_units(answer, trees, units, limit);
  }
  answer.graph = wait_graph(trees);
  return answer;
}

std::string evidence_for(const std::string& unit, const Cause& cause) {
  const std::string selected = selects(cause.of.empty() ? unit : cause.of);
  if (cause.kind == Cause::Kind::Unit || cause.kind == Cause::Kind::Busy) {
    return is_plain(cause.name) ? "offcpuctl why " + cause.name : "";
  }
  if (selected.empty()) return {};
  if (cause.kind == Cause::Kind::Runs) return "offcpuctl top" + selected;
  if (cause.for_kind >= kForCpu) return "offcpuctl top" + selected + " --sort runqueue";
  return "offcpuctl snapshot 10" + selected + " --for " + std::string(name_of_for(cause.for_kind));
}

}  // namespace offcpud
