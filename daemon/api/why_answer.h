// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "api/why_goroutines.h"
#include "base/clock.h"
#include "why/dependents.h"
#include "why/verdicts.h"
#include "why/wait_graph.h"
#include "why/why_inputs.h"

namespace offcpud {

// What /api/v1/why answers.
struct WhyAnswer {
  WallTime taken;
  bool whole_host = true;  // false: about the units of `trees`
  bool details = false;    // whether the client may see sites, and whom threads wait for
  std::vector<WhyVerdict> verdicts;
  std::vector<UnitCauses> trees;
  std::size_t all_verdicts = 0;  // how many there would be without a limit
  std::size_t more_units = 0;    // whose verdict and tree the limit leaves out
  // Who waits for the units that were asked for. Empty for the whole host: its verdicts say it.
  std::vector<Dependent> dependents;
  // Threads with actionable waits whose cgroup or site found no room: the unit "(other)". They may
  // be of any unit.
  double unnamed = 0;
  WaitGraph graph;
  WhyGoroutines goroutines;
  UnitCauses total;                    // of the host; without causes
  WhyInputs inputs;                    // answers show only their lengths, and what is missing
  std::chrono::milliseconds asked{0};  // the length of the window that was asked for; 0: any
};

// `units`: those that were asked for; empty and `whole_host`: all.
WhyAnswer why_answer(WhyInputs inputs, WallTime taken, const std::vector<std::string>& units,
                     bool whole_host, std::size_t limit, bool details);

// The command that shows the evidence for a node below `unit`; empty: there is none.
std::string evidence_for(const std::string& unit, const Cause& cause);

std::string why_json(const WhyAnswer& answer);

// For people. The first lines are the verdicts.
std::string why_text(const WhyAnswer& answer);

}  // namespace offcpud
