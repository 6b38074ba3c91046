// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_maps.h"

#include <utility>

#include "symbols/demangle.h"

namespace offcpud {

void PerfMaps::capture(const Process& process, MonotonicTime now) {
  Known& known = touch(process);
  (void)known.file.refresh(now);  // most processes have no such file
  count(known);
}

std::optional<std::string> PerfMaps::find(const Process& process, std::uint64_t address,
                                          MonotonicTime now) {
  Known& known = touch(process);
  std::optional<std::string> name;
  if (const auto found = known.file.find(address, now)) name = shown_name(*found);
  count(known);
  return name;
}

PerfMaps::Known& PerfMaps::touch(const Process& process) {
  const auto place = places_.find(process);
  if (place != places_.end()) {
    known_.splice(known_.begin(), known_, place->second);
    return known_.front();
  }
  known_.push_front({process, PerfMapFile(*finder_, process)});
  places_.emplace(process, known_.begin());
  return known_.front();
}

// Updates the size of `known`, which is the first, and drops others beyond the limit; the first
// one always stays.
void PerfMaps::count(Known& known) {
  if (known.file.is_truncated() && !std::exchange(known.told, true) && refused_) {
    ObjectRefusals causes;
    causes.add(ObjectRefusal::PerfMap);
    refused_("the perf map of process " + std::to_string(known.process.tgid), causes);
  }
  const std::size_t now = known.file.bytes();
  bytes_ += now - std::exchange(known.bytes, now);
  while (known_.size() > 1 && (known_.size() > limits_.processes || bytes_ > limits_.bytes)) {
    bytes_ -= known_.back().bytes;
    places_.erase(known_.back().process);
    known_.pop_back();
  }
}

}  // namespace offcpud
