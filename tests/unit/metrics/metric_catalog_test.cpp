// SPDX-License-Identifier: Apache-2.0
#include "metrics/metric_catalog.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/goroutine_totals.h"
#include "base/hist_kind.h"
#include "metrics/self_metrics.h"
#include "unit/metrics/golden.h"
#include "unit/metrics/view_fixture.h"

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

// After an empty line, in lines of at most 119 columns.
std::string paragraph(const std::string& text) {
  constexpr std::size_t kColumns = 119;
  std::istringstream stream(text);
  std::string out, line;
  for (std::string word; stream >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      out += "\n" + std::exchange(line, "");
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + "\n" + line + "\n";
}

constexpr std::string_view kQueries = R"(
## Classic and native histograms

The server's configuration decides which of the two it stores; names and labels are the same. Prometheus 2.40 to 3.7
accepts native histograms with `--enable-feature=native-histograms`, later versions with
`scrape_native_histograms: true`; exemplars also need `--enable-feature=exemplar-storage`. For exemplars Prometheus
2.42 needs `params: {histograms: [both]}` in its scrape configuration, too; 2.53 does not. With this and
`scrape_classic_histograms: true` (3.0 and later: `always_scrape_classic_histograms`) a server stores both forms.

| | classic | native |
|---|---|---|
| quantile | `histogram_quantile(0.99, sum by (le, unit) (rate(offcpud_blocked_seconds_bucket[5m])))` | `histogram_quantile(0.99, sum by (unit) (rate(offcpud_blocked_seconds[5m])))` |
| episodes a second | `sum by (unit) (rate(offcpud_blocked_seconds_count[5m]))` | `sum by (unit) (histogram_count(rate(offcpud_blocked_seconds[5m])))` |
| threads that wait, on average | `sum by (unit) (rate(offcpud_blocked_seconds_sum[5m]))` | `sum by (unit) (histogram_sum(rate(offcpud_blocked_seconds[5m])))` |
| share of 0.25 s at most | `sum(rate(offcpud_blocked_seconds_bucket{le="0.25"}[5m])) / sum(rate(offcpud_blocked_seconds_count[5m]))` | `histogram_fraction(0, 0.25, sum(rate(offcpud_blocked_seconds[5m])))` |
| samples of a series | 31 (`classic_buckets: 14`: 17) | 1 |
| width of a bucket | factor 2 (4) | factor 1.19 |

A query that works with either: `CLASSIC or NATIVE`. In servers before 3.0 the label `le` of whole numbers is
`le="1.0"` if scraped as protobuf, and `le="1"` if scraped as text.

An exemplar of a histogram has the labels `pid` and `stack`; a data link of Grafana from the latter to
`http://HOST:19435/api/v1/snapshots/merge?format=folded&from=-1h&stack=${__value.raw}` shows the stack to
those who may see [details](security.md): [semantics](semantics.md#exemplars).

## For whom

Exemplars, `offcpud_waited_on_seconds_total` and `offcpud_stalls_waiting_on` are details: who may not
see [those](security.md) gets the other metrics.
)";

std::string document() {
  std::string out =
      "# Metrics\n\n"
      "Generated from `daemon/metrics/metric_catalog.cpp` by the unit tests: run them with\n"
      "`OFFCPUD_UPDATE_GOLDEN=1` after a change. A label that does not apply to a series is left\n"
      "out.\n\n"
      "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricDef& def : metric_catalog()) {
    out.append("| `").append(def.name).append("` | ").append(metric_type_name(def.type));
    out.append(" | ").append(names(def.labels)).append(" | ").append(def.help).append(" |\n");
  }
  const std::span<const std::string_view> kinds = kHistKindNames;
  out += paragraph("`reason` is one of " + values(kinds.first(OFFCPUD_BLOCKED_KINDS)) + ".");
  out += paragraph("`cause` of a run-queue wait is one of " +
                   values(kinds.subspan(OFFCPUD_BLOCKED_KINDS)) +
                   ", `by` of `offcpud_preemptions_total` one of " + values(kTakerNames) +
                   ", `from` of `offcpud_wakeups_total` one of " + values(kWakerNames) + ".");
  out += paragraph("`cause` of `offcpud_scrapes_not_compressed_total` is one of " +
                   values(kGzipRefusalNames) + ".");
  out += paragraph("`cause` of `offcpud_objects_refused_total` is one of " +
                   values(kObjectRefusalNames) + ".");
  out += paragraph("`what` of `offcpud_stack_sources_left_out_total` is one of " +
                   values(kStackLossNames) + ".");
  out += paragraph("`cause` of `offcpud_goroutine_failures_total` is one of " +
                   values(kGoroutineFailureNames) + ".");
  out += paragraph("`cause` of `offcpud_snapshot_failures_total` is one of " +
                   values(kSnapshotFailureNames) + ".");
  out += paragraph("`result` of `offcpud_push_snapshots_total` is one of " +
                   values(kPushResultNames) + ", `cause` of `offcpud_push_failures_total` one of " +
                   values(kPushFailureNames) + ".");
  out += paragraph(
      "`over` is one of the durations of the option `stalls.over`: whole seconds as `60s`, others "
      "as `250ms`.");
  out += kQueries;
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
  ThreadWatch threads;
  const auto main = threads.add("main", {});
  SelfMetrics self({"1", "abc", "6.1"}, &threads);
  self.add_stage("read");
  self.set_feature("btf", true);
  self.set_program_costs(std::vector<ProgramCost>{{"sched_switch", 1024, 300'000}});
  self.set_overhead(0.01);
  self.count_snapshot_written(WallTime{});
  self.count_push(PushResult::Sent, WallTime{});
  constexpr const char* kOne[] = {"one"};
  self.add_reader_series(kOne, kOne);
  self.set_certificate_expiry(WallTime{});
  std::set<std::string> exported;
  const auto view = std::make_shared<View>(*test::hostile_view());
  view->tells_unusual = true;
  std::istringstream text(test::render(view, 28, test::text_of(self)));
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
