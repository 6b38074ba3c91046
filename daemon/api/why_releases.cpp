// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "pipeline/released_waits.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

UnitRelease::By kind_of(ReleasedWaits::By kind) {
  switch (kind) {
    case ReleasedWaits::By::Thread:
      return UnitRelease::By::Thread;
    case ReleasedWaits::By::Others:
      return UnitRelease::By::Others;
    case ReleasedWaits::By::Nobody:
      break;
  }
  return UnitRelease::By::Nobody;
}

}  // namespace

// A wait that is asked about may have begun long ago, so those before the window count, too.
Source<UnitRelease> releases_of(const View& view, UnitNames& names) {
  using Key = std::tuple<std::string, std::string, ReleasedWaits::By, std::uint32_t, std::uint64_t,
                         std::string, std::uint32_t>;
  Source<UnitRelease> source;
  std::map<Key, UnitRelease> sums;
  const auto add = [&](const ReleasedWaits& row) {
    const std::string& unit = names.of(row.cgroup);
    Key key{unit, row.site, row.kind, row.pid, row.process_start_ns, row.thread, row.tid};
    const bool fits = has_room(source, sums, key);
    if (!fits) key = Key{unit, row.site, ReleasedWaits::By::Others, 0, 0, {}, 0};
    const auto [sum, is_new] = sums.try_emplace(std::move(key));
    UnitRelease& release = sum->second;
    if (is_new) {
      release.unit = unit;
      release.site = row.site;
      release.kind = fits ? kind_of(row.kind) : UnitRelease::By::Others;
    }
    if (is_new && release.kind == UnitRelease::By::Thread) {
      release.by = row.by.starts_with('/') ? names.of(row.by) : row.by;
      release.process = row.process;
      release.thread = row.thread;
      release.pid = row.pid;
      release.tid = row.tid;
    }
    release.ns += row.ns;
    release.squares += row.squares;
    release.samples += row.samples;
  };
  const auto length = for_each_recent(view.peer_history, PeerHistory::kAge,
                                      [&](const PeerWindow& each, bool /*last*/) {
                                        for (const ReleasedWaits& row : each.released) add(row);
                                      });
  move_rows(source, sums, length);
  return source;
}

}  // namespace offcpud
