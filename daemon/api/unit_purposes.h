// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/for_sums.h"
#include "api/unit_query.h"
#include "base/wait_for.h"
#include "pipeline/interval_histogram.h"
#include "pipeline/site_history.h"
#include "pipeline/view.h"

namespace offcpud {

// Says what each cgroup that a query selects waited for within the query's window, how long these
// waits were, and on whom it waited. The View owns the texts, so it must outlive the object.
class UnitPurposes {
 public:
  UnitPurposes(const View& view, const UnitQuery& query);

  // False: nothing was examined.
  [[nodiscard]] bool known() const { return length_.count() > 0; }
  [[nodiscard]] double seconds() const;
  [[nodiscard]] const ForSums& of(std::string_view cgroup) const;

  // As docs/http.md says in "What threads wait for" and "Units", with the lengths of the waits
  // that ended.
  [[nodiscard]] nlohmann::ordered_json json_of(std::string_view cgroup, bool with_sites) const;
  [[nodiscard]] nlohmann::ordered_json total_json(bool with_sites) const;
  // Whom the cgroup waited on most; empty: nobody, or nobody knows.
  [[nodiscard]] nlohmann::ordered_json waited_on_json(std::string_view cgroup) const;
  // null: nothing was examined.
  [[nodiscard]] nlohmann::ordered_json window_json() const;

 private:
  using Lengths = std::array<std::unique_ptr<IntervalHistogram>, kWaitForNames.size()>;
  using On = std::pair<WaitFor, std::string_view>;

  void add(const SiteWindow& window, const UnitQuery& query, bool now);
  void add_lengths(const View& view, const UnitQuery& query);
  void add_peers(const View& view, const UnitQuery& query);
  [[nodiscard]] nlohmann::ordered_json json(const ForSums& sums, const Lengths* lengths,
                                            bool with_sites) const;

  std::chrono::nanoseconds length_{0}, age_{0}, peers_length_{0};
  std::map<std::string_view, ForSums> units_;
  ForSums total_;
  std::map<std::string_view, Lengths> lengths_;
  Lengths total_lengths_;
  std::map<std::string_view, std::map<On, double>> waited_on_;  // ns
};

// The bounds of a slot in seconds: a length in it is greater than the first and at most the second.
// null: there is no such bound.
nlohmann::ordered_json slot_bounds_json(std::size_t slot);

}  // namespace offcpud
