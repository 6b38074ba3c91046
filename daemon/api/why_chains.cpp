// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "pipeline/wait_window.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

UnitChain chain_of(const ChainWaits& row, const std::string& unit, UnitNames& names) {
  UnitChain chain{.unit = unit,
                  .wait_for = row.wait_for,
                  .on = peer_on(row.on, names),
                  .steps = {},
                  .end = row.end,
                  .busy_after = row.busy_after};
  for (const ChainWaits::Step& step : row.steps) {
    chain.steps.push_back({.wait_for = step.wait_for, .on = peer_on(step.on, names)});
  }
  return chain;
}

}  // namespace

Source<UnitChain> chains_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  using Path = std::vector<std::pair<WaitFor, std::string>>;
  using Key = std::tuple<std::string, WaitFor, std::string, Path, ChainWaits::End, BusyAfter>;
  Source<UnitChain> source;
  std::map<Key, UnitChain> sums;
  const auto add = [&](const ChainWaits& row) {
    const std::string& unit = names.of(row.cgroup);
    Key key{unit, row.wait_for, row.on, {}, row.end, row.busy_after};
    for (const ChainWaits::Step& step : row.steps) {
      std::get<Path>(key).emplace_back(step.wait_for, step.on);
    }
    const bool fits = has_room(source, sums, key);
    if (!fits) key = Key{unit, row.wait_for, row.on, {}, ChainWaits::End::Unknown, {}};
    const auto [sum, is_new] = sums.try_emplace(std::move(key));
    if (is_new) {
      sum->second = chain_of(row, unit, names);
      if (!fits) {
        sum->second.steps.clear();
        sum->second.end = ChainWaits::End::Unknown;
        sum->second.busy_after.reset();
      }
    }
    sum->second.time += row.time;
  };
  const auto length =
      for_each_recent(view.peer_history, window, [&](const PeerWindow& each, bool /*last*/) {
        for (const ChainWaits& row : each.chains) add(row);
      });
  move_rows(source, sums, length);
  return source;
}

void add_process_chains(WhyInputs& inputs, const WaitWindow& window, double seconds,
                        const ProcessRow& process, UnitNames& names) {
  Source<UnitChain>& chains = inputs.chains;
  if (!chains.known()) chains.seconds = seconds;
  bool is_there = false;
  for (const ChainWaits& row : window.process_chains) {
    if (row.pid != process.pid || row.process_start_ns != process.start_ns) continue;
    is_there = true;
    chains.rows.push_back(chain_of(row, process_subject(process), names));
    chains.rows.back().time = scaled(row.time, chains.seconds / seconds);
  }
  inputs.no_room_for_chains = !is_there && window.unchained > 0;
  chains.sort();
}

}  // namespace offcpud
