// SPDX-License-Identifier: Apache-2.0
#include "metrics/prometheus_protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "support/metric_families.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::decode_families;
using test::DecodedExemplar;
using test::DecodedFamily;
using test::DecodedHistogram;
using test::hostile_view;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string protobuf(const std::shared_ptr<const View>& view, bool with_classic = true,
                     std::size_t buffer_size = 65536) {
  return test::read_all(scrape_body(view,
                                    {.format = ExpositionFormat::Protobuf,
                                     .classic_buckets = 28,
                                     .with_classic = with_classic},
                                    nullptr, ContentCoding::Identity, nullptr),
                        buffer_size);
}

const DecodedFamily& family(const std::vector<DecodedFamily>& families, const std::string& name) {
  for (const DecodedFamily& one : families) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no family " + name);
}

// What a slot holds, by its last one or by the index of a native bucket.
std::shared_ptr<const View> random_view() {
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same View in every run
  auto view = std::make_shared<View>();
  for (int i = 0; i < 20; ++i) {
    SubjectSeries series = test::subject_of("/s" + std::to_string(i));
    for (auto& histogram : series.histograms) {
      auto filled = std::make_shared<LatencyHistogram>();
      for (auto& slot : filled->slots) slot = random() % 3 == 0 ? random() >> (random() % 64) : 0;
      for (auto& slot : filled->slots) slot >>= 8U;  // the sum of all must not overflow
      filled->sum_ns = random() >> 8U;
      histogram = std::move(filled);
    }
    view->subjects.push_back(std::move(series));
  }
  return view;
}

// Text by text of the series: `name{labels}`, without `le`; then cumulative counts.
using TextBuckets = std::map<std::string, std::vector<std::uint64_t>>;

TextBuckets buckets_of_text(const std::string& text) {
  TextBuckets buckets;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t le = line.find(",le=\"");
    if (le == std::string::npos) continue;
    buckets[line.substr(0, le)].push_back(std::stoull(line.substr(line.rfind(' ') + 1)));
  }
  return buckets;
}

std::string text_key(const std::string& name, const test::Labels& labels) {
  return name + "_bucket{cgroup=\"" + labels.at("cgroup") + "\"," +
         (labels.contains("reason") ? "reason=\"" + labels.at("reason")
                                    : "cause=\"" + labels.at("cause")) +
         "\"";
}

TEST(PrometheusProtobuf, EverySlotCountsTheSameInBothFormats) {
  const auto view = random_view();
  const TextBuckets text = buckets_of_text(test::render(view));
  const auto families = decode_families(protobuf(view));
  std::size_t compared = 0;
  for (const char* name : {"offcpud_blocked_seconds", "offcpud_runqueue_wait_seconds"}) {
    for (const auto& metric : family(families, name).metrics) {
      const DecodedHistogram& native = metric.histogram.value();
      const auto& classic = text.at(text_key(name, metric.labels));
      ASSERT_EQ(classic.size(), 29U);
      EXPECT_EQ(native.count, classic.back());
      const auto populations = native.populations();
      for (std::size_t i = 0; i < native.buckets.size(); ++i) {
        EXPECT_EQ(native.buckets[i].cumulative_count, classic[i]);
        // Of the native buckets up to this bound: a power of two, 4 buckets each.
        std::uint64_t below = native.zero_count;
        const int last = (static_cast<int>(i) - 20) * 4;
        for (const auto& [index, count] : populations) below += index <= last ? count : 0;
        EXPECT_EQ(below, classic[i]) << i;
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, text.size());
}

TEST(PrometheusProtobuf, EveryKernelSlotIsOneNativeBucket) {
  const auto view = random_view();
  const auto families = decode_families(protobuf(view, false));
  for (const auto& metric : family(families, "offcpud_blocked_seconds").metrics) {
    const std::size_t subject = std::stoul(metric.labels.at("cgroup").substr(2));
    std::size_t kind = 0;
    while (kHistKindNames[kind] != metric.labels.at("reason")) ++kind;
    const LatencyHistogram& slots = *view->subjects[subject].histograms[kind];
    EXPECT_EQ(metric.histogram->schema, 2);
    EXPECT_EQ(metric.histogram->zero_threshold, std::exp2(-20));
    EXPECT_EQ(metric.histogram->zero_count, slots.slots[0]);
    EXPECT_DOUBLE_EQ(metric.histogram->sum, static_cast<double>(slots.sum_ns) / 1e9);
    EXPECT_THAT(metric.histogram->buckets, IsEmpty());
    auto populations = metric.histogram->populations();
    for (int slot = 1; slot < OFFCPUD_SLOTS; ++slot) {
      EXPECT_EQ(populations[slot - 80], slots.slots[static_cast<std::size_t>(slot)]) << slot;
    }
  }
}

// Labels and values of everything that is no histogram, as both formats have them.
TEST(PrometheusProtobuf, TheFamiliesAreThoseOfTheText) {
  std::vector<std::string> in_text;
  std::istringstream stream(test::render(hostile_view()));
  std::map<std::string, std::size_t> series;
  std::string name;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("# HELP ")) in_text.push_back(line.substr(7));
    if (line.starts_with("# TYPE ")) name = line.substr(7, line.find(' ', 7) - 7);
    const bool sample = !line.starts_with('#') && line.find("_bucket{") == std::string::npos &&
                        !line.starts_with(name + "_sum");
    if (sample) ++series[name];
  }
  std::vector<std::string> in_protobuf;
  for (const DecodedFamily& one : decode_families(protobuf(hostile_view()))) {
    in_protobuf.push_back(one.name + " " + one.help);
    EXPECT_EQ(one.metrics.size(), series[one.name]) << one.name;
  }
  EXPECT_EQ(in_protobuf, in_text);
}

TEST(PrometheusProtobuf, CountersAndGaugesKeepTypeLabelsAndValue) {
  const auto families = decode_families(protobuf(hostile_view()));
  const DecodedFamily& running = family(families, "offcpud_running_seconds_total");
  EXPECT_EQ(running.type, 0);
  EXPECT_EQ(running.metrics[2].value, 1.500000001);
  EXPECT_THAT(running.metrics[2].labels,
              UnorderedElementsAre(Pair("cgroup", "/system.slice/nginx.service"),
                                   Pair("slice", "system.slice"), Pair("unit", "nginx.service")));
  EXPECT_EQ(running.metrics[0].labels.at("cgroup"), "/evil\"} 1\\\nup 1/\u00fc\u4e16");
  EXPECT_EQ(family(families, "offcpud_blocked_threads").type, 1);
  EXPECT_EQ(family(families, "offcpud_blocked_seconds").type, 4);
  EXPECT_EQ(family(families, "offcpud_lost_events_total").metrics[1].value, 3);
}

TEST(PrometheusProtobuf, TheBufferSizeDoesNotChangeTheBytes) {
  const std::string whole = protobuf(hostile_view());
  for (const std::size_t size : {1U, 7U, 100U}) {
    EXPECT_EQ(protobuf(hostile_view(), true, size), whole) << size;
  }
}

TEST(PrometheusProtobuf, AHistogramInTheZeroBucketIsStillNative) {
  auto view = std::make_shared<View>();
  SubjectSeries series = test::subject_of("/a");
  series.histograms[0] = test::histogram_of({1, 953});
  view->subjects.push_back(series);
  const auto families = decode_families(protobuf(view));
  const auto& histogram = family(families, "offcpud_blocked_seconds").metrics[0].histogram;
  EXPECT_EQ(histogram->zero_count, 2U);
  EXPECT_THAT(histogram->spans, ElementsAre(Pair(0, 0)));
  EXPECT_THAT(histogram->deltas, IsEmpty());
}

std::shared_ptr<const View> view_with_exemplars(WallTime started, std::uint64_t last_round = 2) {
  auto view = std::make_shared<View>();
  SubjectSeries series = test::subject_of("/a");
  series.histograms[OFFCPUD_BLOCKED_DISK] = test::histogram_of({1'000'000, 3'000'000'000});
  series.started[OFFCPUD_BLOCKED_DISK] = started;
  auto exemplars = std::make_shared<KindExemplars>();
  (*exemplars)[OFFCPUD_BLOCKED_DISK] = {
      {.duration_ns = 1'000'000, .ended = started + 1s, .pid = 0, .stack = 0xabc, .round = 2},
      {.duration_ns = 3'000'000'000,
       .ended = started + 2500ms,
       .pid = 4'194'304,
       .stack = ~0ULL,
       .round = last_round}};
  series.exemplars = exemplars;
  view->subjects.push_back(series);
  return view;
}

TEST(PrometheusProtobuf, ExemplarsLeadFromABucketToAStack) {
  const WallTime started(1'700'000'000s + 250ms);
  const auto families = decode_families(protobuf(view_with_exemplars(started)));
  const auto& histogram = family(families, "offcpud_blocked_seconds").metrics[0].histogram;
  EXPECT_EQ(histogram->created, 1'700'000'000.25);
  ASSERT_EQ(histogram->exemplars.size(), 2U);
  EXPECT_THAT(histogram->exemplars[0].labels, ElementsAre(Pair("stack", "0000000000000abc")));
  const DecodedExemplar& longest = histogram->exemplars[1];
  EXPECT_THAT(longest.labels,
              ElementsAre(Pair("pid", "4194304"), Pair("stack", "ffffffffffffffff")));
  EXPECT_EQ(longest.value, 3);
  EXPECT_EQ(longest.seconds, 1'700'000'002);
  EXPECT_EQ(longest.nanos, 750'000'000);
  std::size_t length = 0;
  for (const auto& [name, value] : longest.labels) length += name.size() + value.size();
  EXPECT_LE(length, 128U);
}

TEST(PrometheusProtobuf, OneClassicBucketHasTheLongestExemplarOfTheLatestSnapshot) {
  // By the round of the longer one: the upper bound of the bucket that has the exemplar.
  for (const auto& [round, bound] : {std::pair(2U, 4.0), std::pair(1U, 0x1p-9)}) {
    const auto families = decode_families(protobuf(view_with_exemplars(WallTime(1s), round)));
    const auto& histogram = family(families, "offcpud_blocked_seconds").metrics[0].histogram;
    for (const auto& bucket : histogram->buckets) {
      EXPECT_EQ(bucket.exemplar.has_value(), bucket.upper_bound == bound) << bucket.upper_bound;
    }
  }
}

TEST(PrometheusProtobuf, TextHasNeitherExemplarsNorABeginning) {
  auto plain = std::make_shared<View>(*view_with_exemplars(WallTime(1s)));
  const std::string with = test::render(plain);
  plain->subjects[0].exemplars = nullptr;
  plain->subjects[0].started = {};
  EXPECT_EQ(test::render(plain), with);
}

TEST(PrometheusProtobuf, TheDaemonsOwnHistogramsAreClassic) {
  SelfMetrics metrics({"1", "2", "3"});
  metrics.add_stage("read");
  metrics.observe_pass("read", 2ms);
  PrometheusProtobuf writer(classic_buckets(28));
  metrics.write(writer);
  const auto families = decode_families(writer.bytes());
  const auto& histogram = family(families, "offcpud_pass_duration_seconds").metrics[0].histogram;
  EXPECT_EQ(histogram->count, 1U);
  EXPECT_EQ(histogram->sum, 0.002);
  EXPECT_TRUE(histogram->spans.empty());
  EXPECT_TRUE(std::isinf(histogram->buckets.back().upper_bound));
  EXPECT_EQ(family(families, "offcpud_build_info").metrics[0].labels.at("version"), "1");
}

}  // namespace
}  // namespace offcpud
