// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "unit/why/inputs.h"
#include "why/verdicts.h"

namespace offcpud::test {

inline std::string sentence(HandMadeInputs& host, const std::string& unit) {
  WhyUnits units(host.made());
  return verdict_of(units, unit).sentence;
}

inline std::vector<std::string> units_told(HandMadeInputs& host) {
  WhyUnits units(host.made());
  std::vector<std::string> told;
  for (const WhyVerdict& verdict : verdicts(units, 10)) told.push_back(verdict.unit);
  return told;
}

inline UnitChain::Step step(WaitFor wait_for, UnitPeer::On kind = UnitPeer::On::Unknown,
                            const std::string& on = {}) {
  return {.wait_for = wait_for, .on = {.kind = kind, .on = on}};
}

// nginx -> app -> redis -> worker -> its client of the database -> the database, which sleeps.
inline HandMadeInputs shop() {
  HandMadeInputs host;
  host.waits("shopper", WaitFor::Answer, "", 1)
      .on("shopper", WaitFor::Answer, UnitPeer::On::Unit, "edge", 1, "nginx")
      .waits("edge", WaitFor::Answer, "", 1)
      .on("edge", WaitFor::Answer, UnitPeer::On::Unit, "app", 1, "python3")
      .waits("app", WaitFor::Answer, "", 1)
      .on("app", WaitFor::Answer, UnitPeer::On::Unit, "queue", 1, "redis-server")
      .waits("queue", WaitFor::Work, "redis-event-loop", 1)
      .on("queue", WaitFor::Work, UnitPeer::On::Unit, "app", 0.3)
      .on("queue", WaitFor::Work, UnitPeer::On::Unit, "worker", 0.7, "python3")
      .waits("worker", WaitFor::Answer, "", 0.9)
      .on("worker", WaitFor::Answer, UnitPeer::On::Unit, "orders-db", 0.9, "postgres")
      .waits("orders-db", WaitFor::Timer, "postgresql-sleep", 0.9)
      .cpu("edge", 0.01)
      .cpu("orders-db", 0.01);
  return host;
}

// Threads of "app" wait for a lock that a thread of its own holds.
inline UnitHolder holder(UnitHolder::Does does, WaitFor wait_for = WaitFor::Unknown) {
  UnitHolder row{.lock = "a mutex", .by = "app", .process = "python3", .pid = 100};
  row.waiters_for = WaitFor::Lock;
  row.is_thread = true;
  row.thread = "refresh";
  row.tid = 101;
  row.waiting = 3;
  row.does = does;
  row.wait_for = wait_for;
  return row;
}

inline HandMadeInputs locked(UnitHolder by) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "mutex", 3)
      .on("app", WaitFor::Lock, UnitPeer::On::Unit, "app", 2.9)
      .held("app", std::move(by));
  return host;
}

}  // namespace offcpud::test
