// SPDX-License-Identifier: Apache-2.0
#include "why/dependents.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/amount_text.h"
#include "base/no_unit.h"

namespace offcpud {
namespace {

using Found = std::map<std::string_view, std::vector<Dependent>>;  // by whom they wait for

// Adds what of the cause is a wait for those that `found` has a place for.
void add_parts(Found& found, const std::string& unit, const Cause& cause) {
  std::map<std::string_view, double> themselves;  // threads that wait for each
  const auto add = [&](std::string_view on, const std::string& device, double threads) {
    found.find(on)->second.push_back({.unit = unit,
                                      .on = std::string(on),
                                      .for_kind = cause.for_kind,
                                      .device = device,
                                      .threads = threads,
                                      .over = cause.over});
  };
  const auto is_asked_for = [&](const std::string& on) { return on != unit && found.contains(on); };
  for (const Cause& part : cause.parts) {
    if (part.kind == Cause::Kind::Unit && is_asked_for(part.name)) {
      themselves[part.name] += part.threads;
    }
    if (!part.load || part.threads < kLeastThreads) continue;
    const DeviceLoad::Part* const loader = loader_to_blame(*part.load);
    if (loader == nullptr || !is_asked_for(loader->unit)) continue;
    add(loader->unit, part.name, part.threads);
  }
  for (const auto& [on, threads] : themselves) {
    if (threads >= kLeastThreads) add(on, {}, threads);
  }
}

}  // namespace

std::vector<Dependent> dependents_of(WhyUnits& units, const std::vector<std::string>& on) {
  Found found;
  for (const std::string& each : on) found.try_emplace(each);
  for (const std::string& unit : units_in(units.inputs())) {
    for (const Cause& cause : units.of(unit).causes) {
      if (is_actionable_for(cause.for_kind)) add_parts(found, unit, cause);
    }
  }
  std::vector<Dependent> all;
  for (const std::string& each : on) {
    std::vector<Dependent> of_one = std::move(found[each]);
    found[each].clear();
    std::ranges::stable_sort(
        of_one, {}, [](const Dependent& one) { return std::tuple(one.over, -one.threads); });
    std::ranges::move(of_one, std::back_inserter(all));
  }
  return all;
}

std::string sentence_of(const Dependent& dependent) {
  const auto verb = [&](const std::string& unit, const char* one, const char* many,
                        const char* past) {
    return dependent.over ? past : verb_of(unit, one, many);
  };
  const std::string on = in_sentence(dependent.on);
  const std::string text =
      in_sentence(dependent.unit) + verb(dependent.unit, " waits", " wait", " waited");
  const std::string threads = threads_text(dependent.threads) + " threads";
  if (dependent.for_kind == kForCpu) {
    return text + " for a CPU that " + on + verb(dependent.on, " has: ", " have: ", " had: ") +
           threads;
  }
  if (!dependent.device.empty()) {
    return text + " for device " + dependent.device + ", which " + on +
           verb(dependent.on, " loads: ", " load: ", " loaded: ") + threads;
  }
  return text + " for " + on + ": " + threads + " " + std::string(words_of_for(dependent.for_kind));
}

}  // namespace offcpud
