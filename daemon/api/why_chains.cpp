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
                  .end = row.end};
  for (const ChainWaits::Step& step : row.steps) {
    chain.steps.push_back({.wait_for = step.wait_for, .on = peer_on(step.on, names)});
  }
  return chain;
}

}  // namespace

Source<UnitChain> chains_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  using Path = std::vector<std::pair<WaitFor, std::string>>;
  using Key = std::tuple<std::string, WaitFor, std::string, Path, ChainWaits::End>;
  Source<UnitChain> source;
  std::map<Key, UnitChain> sums;
  const auto add = [&](const ChainWaits& row) {
    const std::string& unit = names.of(row.cgroup);
    Path path;
    for (const ChainWaits::Step& step : row.steps) path.emplace_back(step.wait_for, step.on);
    const auto [sum, is_new] =
        sums.try_emplace({unit, row.wait_for, row.on, std::move(path), row.end});
    if (is_new) sum->second = chain_of(row, unit, names);
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
