// SPDX-License-Identifier: Apache-2.0
#include "export/metric_catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "export/self_metrics.h"
#include "histogram/hist_kind.h"
#include "unit/export/golden.h"
#include "unit/export/view_fixture.h"

namespace offcpud {
namespace {

std::string names(std::string_view separated) {
  std::istringstream stream{std::string(separated)};
  std::string out;
  for (std::string name; stream >> name;) out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

std::string values(std::span<const std::string_view> values) {
  std::string out;
  for (const std::string_view value : values) {
    out.append(out.empty() ? "`" : ", `").append(value).append("`");
  }
  return out;
}

std::string document() {
  std::string out =
      "# Metrics\n\n"
      "Generated from `daemon/export/metric_catalog.cpp` by the unit tests: run them with\n"
      "`OFFCPUD_UPDATE_GOLDEN=1` after a change. A label that does not apply to a series is left\n"
      "out.\n\n"
      "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricDef& def : metric_catalog()) {
    out.append("| `").append(def.name).append("` | ").append(metric_type_name(def.type));
    out.append(" | ").append(names(def.labels)).append(" | ").append(def.help).append(" |\n");
  }
  const std::span<const std::string_view> kinds = kHistKindNames;
  out += "\n`reason` is one of " + values(kinds.first(OFFCPUD_BLOCKED_KINDS)) + ".\n\n";
  out += "`cause` of a run-queue wait is one of " + values(kinds.subspan(OFFCPUD_BLOCKED_KINDS)) +
         ", `by` of `offcpud_preemptions_total` one of " + values(kTakerNames) +
         ", `from` of `offcpud_wakeups_total` one of " + values(kWakerNames) + ".\n\n";
  out += "`cause` of `offcpud_snapshot_failures_total` is one of " + values(kSnapshotFailureNames) +
         ".\n\n";
  out +=
      "`over` is one of the durations of the option `stalls.over`: whole seconds as `60s`, others\n"
      "as `250ms`.\n";
  return out;
}

TEST(MetricCatalog, IsWhatTheDocumentationSays) {
  test::expect_same_as_file("docs/metrics.md", document());
}

TEST(MetricCatalog, NamesAreUnique) {
  std::set<std::string_view> seen;
  for (const MetricDef& def : metric_catalog())
    EXPECT_TRUE(seen.insert(def.name).second) << def.name;
}

TEST(MetricCatalog, HistKindsHaveDistinctNamesWithinALabel) {
  const std::set<std::string_view> seen(kHistKindNames.begin(), kHistKindNames.end());
  EXPECT_EQ(seen.size(), kHistKindNames.size());
}

// A scrape exports every metric of the catalogue and no other, with the type that it says.
TEST(MetricCatalog, AScrapeHasExactlyTheMetricsOfTheCatalogue) {
  SelfMetrics self({"1", "abc", "6.1"});
  self.add_stage("read");
  self.set_feature("btf", true);
  self.count_snapshot_written(WallTime{});
  std::set<std::string> exported;
  std::istringstream text(test::render(test::hostile_view(), 28, self.text()));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# TYPE ")) exported.insert(line.substr(7));
  }
  std::set<std::string> declared;
  for (const MetricDef& def : metric_catalog()) {
    declared.insert(std::string(def.name) + " " + std::string(metric_type_name(def.type)));
  }
  EXPECT_EQ(exported, declared);
}

}  // namespace
}  // namespace offcpud
