// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "why/why_inputs.h"

namespace offcpud {

// Who loads a device for which threads of a unit wait, within the same window. Shown beside that
// part of the tree: no wait is attributed to those who load the device. Immutable.
struct DeviceLoad {
  struct Part {
    UnitLoad::By kind = UnitLoad::By::Unknown;
    std::string unit;      // of Unit
    bool own = false;      // it is the waiting unit, or the unit of the waiting process
    double share = 0;      // of the load of all
    double at_a_time = 0;  // requests under way on average; 0: not known
    double requests = 0;   // done within a second
    double read = 0;       // bytes within a second
    double written = 0;    // the same, with discarded ones
  };
  std::vector<Part> parts;     // the largest first, few
  double at_a_time = 0;        // of all
  bool is_timed = false;       // shares are of the time of requests; false: of bytes
  bool is_of_process = false;  // a process waits, not its unit as a whole
  std::string because;         // why nothing is known, if there are no parts
};

DeviceLoad load_of(const WhyInputs& inputs, const std::string& device, const std::string& unit);

// The unit that makes others wait for the device; null: there is no single one. It is not the
// waiting unit, does at least half of the load that is not the waiting unit's own, at least twice
// as much as the waiting unit, and keeps the device busy (docs/decisions/0024-who-loads-a-disk.md).
const DeviceLoad::Part* loader_to_blame(const DeviceLoad& load);

// "92 % of the time of the device's requests, 85 MB/s written"
std::string load_text(const DeviceLoad& load, const DeviceLoad::Part& part);

// "backup.service", "the kernel", "itself"
std::string loader_name(const DeviceLoad::Part& part);

// What is known of the load, as the next clause of a sentence, if no single unit is to blame.
std::string clause_of(const DeviceLoad& load);

}  // namespace offcpud
