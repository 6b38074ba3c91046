// SPDX-License-Identifier: Apache-2.0
#include "metrics/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <sstream>

#include "support/metric_families.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::hostile_view;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_without_values(const std::string& text) {
  std::vector<std::string> series;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    series.push_back(line.starts_with('#') ? line : line.substr(0, line.rfind(' ')));
  }
  return series;
}

// The same subjects a pass later: every value is another one, and the processes wait in another
// order.
std::shared_ptr<const View> later(const View& view) {
  auto next = std::make_shared<View>(view);
  next->taken_wall += 10s;
  for (SubjectSeries& series : next->subjects) {
    ++series.running_ns;
    for (auto& histogram : series.histograms) {
      if (!histogram) continue;
      auto grown = std::make_shared<LatencyHistogram>(*histogram);
      if (!grown->empty()) ++grown->slots[77];
      histogram = std::move(grown);
    }
  }
  std::ranges::reverse(next->processes);
  for (LossCount& loss : next->losses) ++loss.events;
  for (MapUsage& usage : next->maps) ++usage.entries;
  return next;
}

TEST(Exposition, NamesLabelsAndOrderAreTheSameInEveryScrape) {
  const auto first = hostile_view();
  const auto second = later(*first);
  EXPECT_NE(test::render(first), test::render(second));
  EXPECT_EQ(lines_without_values(test::render(first)), lines_without_values(test::render(second)));
}

TEST(Exposition, TheDaemonsOwnSeriesKeepTheirOrderWhenOthersCome) {
  SelfMetrics metrics({"1", "2", "3"});
  std::vector<std::string> before;
  for (int i = 0; i < 64; ++i) {
    metrics.set_feature("feature" + std::to_string(i * 37 % 64), true);
    std::vector<std::string> now = lines_without_values(test::text_of(metrics));
    std::size_t met = 0;
    for (const std::string& series : now) met += met < before.size() && series == before[met];
    ASSERT_EQ(met, before.size()) << "after " << i << " features";
    before = std::move(now);
  }
}

TEST(Exposition, CountsTheSeriesOfEachFamily) {
  Exposition exposition(hostile_view(), make_writer({}), nullptr);
  const std::string text = test::read_all(exposition);
  std::map<std::string, std::uint64_t> shown;
  std::istringstream stream(text);
  const std::string name = "offcpud_family_series{family=\"";
  std::uint64_t samples = 0;
  for (std::string line; std::getline(stream, line);) {
    samples += line.starts_with('#') ? 0 : 1;
    if (!line.starts_with(name)) continue;
    const std::size_t end = line.find('"', name.size());
    shown[line.substr(name.size(), end - name.size())] = std::stoull(line.substr(end + 3));
  }
  EXPECT_EQ(shown.size(), subject_families().size() + process_families().size());
  EXPECT_EQ(shown["offcpud_blocked_seconds"], 4U);
  EXPECT_EQ(shown["offcpud_process_runqueue_wait_seconds"], 1U);
  EXPECT_EQ(shown["offcpud_running_seconds_total"], 4U);
  EXPECT_EQ(exposition.writer().samples(), samples);
}

TEST(Exposition, TellsWhoLoadsWhichDisk) {
  View view = *hostile_view();
  DiskLoadRow backup{.disk = "vda", .load = {.bytes = {1, 2, 3}, .requests = {4, 5, 6}}};
  backup.by = std::make_shared<const SubjectLabels>(
      SubjectLabels{.cgroup = "/b.slice/backup.service", .unit = "backup.service"});
  backup.load.request_ns = 1'500'000'000;
  view.disk_loads = std::make_shared<const std::vector<DiskLoadRow>>(1, backup);
  view.times_disk_requests = true;
  const std::string text = test::render(std::make_shared<const View>(view));
  const std::string who =
      "cgroup=\"/b.slice/backup.service\",unit=\"backup.service\",device=\"vda\"";
  EXPECT_THAT(text, HasSubstr("\noffcpud_disk_bytes_total{" + who + ",operation=\"write\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("\noffcpud_disk_requests_total{" + who + ",operation=\"discard\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_disk_request_seconds_total{" + who + "} 1.5\n"));
  view.times_disk_requests = false;
  EXPECT_THAT(test::render(std::make_shared<const View>(view)),
              Not(HasSubstr("offcpud_disk_request_seconds_total{")))
      << "io.stat has no times";
}

// What protobuf measures before it writes must not count twice.
TEST(Exposition, BothFormatsCountTheSameSeries) {
  Exposition text(hostile_view(), make_writer({}), nullptr);
  Exposition protobuf(hostile_view(), make_writer({.format = ExpositionFormat::Protobuf}), nullptr);
  (void)test::read_all(text);
  const auto families = test::decode_families(test::read_all(protobuf));
  for (const MetricDef& metric : metric_catalog()) {
    EXPECT_EQ(text.writer().series_of(metric.id), protobuf.writer().series_of(metric.id))
        << metric.name;
  }
  std::uint64_t series = 0;
  for (const auto& family : families) series += family.metrics.size();
  EXPECT_EQ(protobuf.writer().samples(), series);
}

}  // namespace
}  // namespace offcpud
