// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "why/why_inputs.h"

namespace offcpud::test {

// What a host might know, put together by hand. Amounts are threads on average; every source has a
// window of 10 s.
class HandMadeInputs {
 public:
  static constexpr double kSeconds = 10;

  HandMadeInputs() {
    inputs.sites.seconds = inputs.peers.seconds = inputs.cpus.seconds = kSeconds;
    inputs.takers.seconds = inputs.holders.seconds = inputs.chains.seconds = kSeconds;
    inputs.loads.seconds = inputs.unheld.seconds = kSeconds;
  }

  // Threads of `unit` wait for something at a site. `error`: of it, in threads.
  HandMadeInputs& waits(const std::string& unit, WaitFor wait_for, const std::string& site,
                        double threads, double error = 0) {
    inputs.sites.rows.push_back(
        {.unit = unit,
         .wait_for = wait_for,
         .site = site,
         .time = {.ns = ns(threads), .variance_ns2 = ns(error) * ns(error)}});
    return *this;
  }
  // Part of that was on another unit, address or device.
  HandMadeInputs& on(const std::string& unit, WaitFor wait_for, UnitPeer::On kind,
                     const std::string& name, double threads, const std::string& process = {}) {
    inputs.peers.rows.push_back({.unit = unit,
                                 .wait_for = wait_for,
                                 .kind = kind,
                                 .on = name,
                                 .process = process,
                                 .time = {.ns = ns(threads)}});
    return *this;
  }
  // Threads of `unit` wait for children of their own, which are in another unit or in the same.
  HandMadeInputs& for_children(const std::string& unit, const std::string& name, double threads) {
    waits(unit, WaitFor::Answer, "child", threads)
        .on(unit, WaitFor::Answer, UnitPeer::On::Unit, name, threads);
    inputs.sites.rows.back().child = inputs.sites.rows.back().time;
    inputs.peers.rows.back().child = inputs.peers.rows.back().time;
    return *this;
  }
  HandMadeInputs& cpu(const std::string& unit, double running, double queued = 0,
                      double throttled = 0) {
    inputs.cpus.rows.push_back({.unit = unit,
                                .running_ns = ns(running),
                                .queued_ns = ns(queued),
                                .throttled_ns = ns(throttled)});
    return *this;
  }
  HandMadeInputs& taken(const std::string& unit, UnitTaker::By kind, const std::string& by,
                        double threads) {
    inputs.takers.rows.push_back({.unit = unit, .kind = kind, .by = by, .ns = ns(threads)});
    return *this;
  }
  HandMadeInputs& held(const std::string& unit, UnitHolder holder) {
    holder.unit = unit;
    inputs.holders.rows.push_back(std::move(holder));
    return *this;
  }
  // Which process of the unit that is.
  HandMadeInputs& by(const std::string& unit, WaitFor wait_for, const std::string& process,
                     std::uint32_t pid = 0) {
    inputs.waiters.rows.push_back(
        {.unit = unit, .wait_for = wait_for, .process = process, .pid = pid});
    return *this;
  }
  // Nobody of the unit waits for it any more, for 12 s at most.
  HandMadeInputs& over(const std::string& unit, std::size_t for_kind, bool is_gone = false) {
    inputs.past.rows.push_back(
        {.unit = unit, .for_kind = for_kind, .within_seconds = 12, .is_gone = is_gone});
    return *this;
  }
  HandMadeInputs& over(const std::string& unit, WaitFor wait_for) {
    return over(unit, static_cast<std::size_t>(wait_for));
  }
  // What was seen of locks without a holder.
  HandMadeInputs& unheld(const std::string& unit, std::uint32_t names_nobody,
                         std::uint32_t changes_hands, std::uint32_t seen_once = 0, double ended = 0,
                         std::uint32_t no_single_holder = 0) {
    inputs.unheld.rows.push_back({.unit = unit,
                                  .names_nobody = names_nobody,
                                  .changes_hands = changes_hands,
                                  .seen_once = seen_once,
                                  .no_single_holder = no_single_holder,
                                  .ended = ended});
    return *this;
  }
  // The same of Python's GIL.
  HandMadeInputs& unheld_gil(const std::string& unit, std::uint32_t changes_hands) {
    inputs.unheld.rows.push_back({.unit = unit, .is_gil = true, .changes_hands = changes_hands});
    return *this;
  }
  // Who ended waits of a unit for a lock.
  HandMadeInputs& released(UnitRelease release) {
    inputs.releases.rows.push_back(std::move(release));
    return *this;
  }
  // What the unit `on` did while `unit` waited for it.
  HandMadeInputs& during(const std::string& unit, WaitFor wait_for, const std::string& on,
                         std::vector<UnitChain::Step> steps, UnitChain::End end, double threads,
                         double error = 0, BusyAfter busy_after = {}) {
    inputs.chains.rows.push_back(
        {.unit = unit,
         .wait_for = wait_for,
         .on = {.kind = UnitPeer::On::Unit, .on = on},
         .steps = std::move(steps),
         .end = end,
         .busy_after = busy_after,
         .time = {.ns = ns(threads), .variance_ns2 = ns(error) * ns(error)}});
    return *this;
  }
  // Requests of `unit` to a device: so many at a time, and bytes within a second.
  HandMadeInputs& loads(const std::string& device, UnitLoad::By kind, const std::string& unit,
                        double at_a_time, double written, double read = 0) {
    inputs.loads.rows.push_back({.unit = unit,
                                 .kind = kind,
                                 .device = device,
                                 .read_bytes = read * kSeconds,
                                 .written_bytes = written * kSeconds,
                                 .requests = 10 * kSeconds,
                                 .request_ns = ns(at_a_time)});
    return *this;
  }
  // As sources are made.
  const WhyInputs& made() {
    inputs.sites.sort();
    inputs.peers.sort();
    inputs.cpus.sort();
    inputs.takers.sort();
    inputs.holders.sort();
    inputs.chains.sort();
    inputs.loads.sort();
    inputs.waiters.sort();
    inputs.past.sort();
    inputs.unheld.sort();
    inputs.releases.sort();
    return inputs;
  }

  WhyInputs inputs;

 private:
  static double ns(double threads) { return threads * kSeconds * 1e9; }
};

}  // namespace offcpud::test
