// SPDX-License-Identifier: Apache-2.0
#include "why/dependents.h"

#include <algorithm>
#include <tuple>

#include "base/amount_text.h"
#include "base/no_unit.h"

namespace offcpud {
namespace {

// Adds to `into` what of the cause is a wait for `on`.
void add_parts(std::vector<Dependent>& into, const std::string& unit, const Cause& cause,
               const std::string& on) {
  Dependent itself{.unit = unit, .on = on, .for_kind = cause.for_kind, .over = cause.over};
  for (const Cause& part : cause.parts) {
    if (part.kind == Cause::Kind::Unit && part.name == on) itself.threads += part.threads;
    if (!part.load || part.threads < kLeastThreads) continue;
    const DeviceLoad::Part* const loader = loader_to_blame(*part.load);
    if (loader == nullptr || loader->unit != on) continue;
    Dependent of_device = itself;
    of_device.device = part.name;
    of_device.threads = part.threads;
    into.push_back(of_device);
  }
  if (itself.threads >= kLeastThreads) into.push_back(itself);
}

}  // namespace

std::vector<Dependent> dependents_of(WhyUnits& units, const std::string& on) {
  std::vector<Dependent> all;
  for (const std::string& unit : units_in(units.inputs())) {
    if (unit == on) continue;
    for (const Cause& cause : units.of(unit).causes) {
      if (is_actionable_for(cause.for_kind)) add_parts(all, unit, cause, on);
    }
  }
  std::ranges::stable_sort(
      all, {}, [](const Dependent& each) { return std::tuple(each.over, -each.threads); });
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
