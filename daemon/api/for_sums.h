// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/wait_for.h"
#include "base/wait_time.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// What some threads waited for within one or several windows, and where.
class ForSums {
 public:
  using Place = std::pair<WaitFor, std::string>;  // what for, and the site
  struct Site {
    WaitTime time, child;       // child: part of it
    std::uint32_t lasting = 0;  // long waits in progress now
    WaitAge oldest;
  };

  // `now`: the window is the last one, so its waits in progress are shown.
  void add(const SiteWaits& waits, bool now);
  void add(const CgroupWaits& waits, bool now);
  // Adds time of which nothing more is known.
  void add_unknown(double ns);

  [[nodiscard]] const WaitTime& of(WaitFor wait_for) const {
    return sums_[static_cast<std::size_t>(wait_for)];
  }
  // Without waits for children: a child has a row of its own, which shows what it waits for.
  [[nodiscard]] WaitTime actionable() const;
  [[nodiscard]] double children_ns() const { return children_.ns; }
  [[nodiscard]] double idle_ns() const { return of(WaitFor::Work).ns + of(WaitFor::Timer).ns; }
  [[nodiscard]] double unknown_ns() const { return of(WaitFor::Unknown).ns; }

  // First the actionable ones, then those for children, the unknown and the idle ones; in each
  // group the longest first.
  [[nodiscard]] std::vector<std::pair<Place, Site>> sites() const;

  // docs/http.md, "What threads wait for". Means over `seconds`; null if that is 0. `with_sites`:
  // includes sites, but only those of waits for `wanted`, if given.
  [[nodiscard]] nlohmann::ordered_json json(double seconds, bool with_sites,
                                            std::optional<WaitFor> wanted = {}) const;

 private:
  void add(const Place& place, const Site& site, bool now);

  struct Lasting {
    std::uint32_t waits = 0;
    WaitAge oldest;
  };

  std::array<WaitTime, kWaitForNames.size()> sums_{};
  std::array<Lasting, kWaitForNames.size()> lasting_{};
  WaitTime children_;  // what actionable() leaves out
  std::map<Place, Site> sites_;
};

}  // namespace offcpud
