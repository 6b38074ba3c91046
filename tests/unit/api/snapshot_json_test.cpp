// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/snapshots.h"
#include "unit/metrics/golden.h"

namespace offcpud {
namespace {

using nlohmann::json;

std::size_t column(const json& table, const std::string& name) {
  const auto names = table.at("columns").get<std::vector<std::string>>();
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<std::size_t>(found - names.begin());
}

std::uint64_t sum_of(const json& table, const std::string& name) {
  std::uint64_t total = 0;
  for (const json& row : table.at("rows"))
    total += row.at(column(table, name)).get<std::uint64_t>();
  return total;
}

TEST(SnapshotJson, IsTheGoldenOne) {
  test::expect_same_as_file("tests/data/golden/snapshot.json",
                            snapshot_json(test::ordinary_snapshot(), {.snapshots = 1}));
}

TEST(SnapshotJson, ARowLeadsToItsStackAndNames) {
  const json table = json::parse(snapshot_json(test::ordinary_snapshot(), {.snapshots = 1}));
  const json& row = table["rows"][0];
  const auto text = [&](const json& id) { return table["strings"].at(id.get<std::size_t>()); };
  EXPECT_EQ(text(row[column(table, "comm")]), "pp");
  EXPECT_EQ(text(row[column(table, "reason")]), "pipe");
  EXPECT_EQ(text(row[column(table, "for")]), "unknown");
  EXPECT_EQ(text(row[column(table, "site")]), "pipe");
  EXPECT_EQ(text(table["rows"][1][column(table, "for")]), "timer");
  std::string names;
  for (const json& frame : table["stacks"].at(row[column(table, "stack")].get<std::size_t>())) {
    const json& described = table["frames"].at(frame.get<std::size_t>());
    names += text(described[0]).get<std::string>() + (described[2] == 1 ? "[k] " : " ");
  }
  EXPECT_EQ(names,
            "_start main read entry_SYSCALL_64_after_hwframe[k] do_syscall_64[k] "
            "anon_pipe_read[k] schedule[k] ");
}

TEST(SnapshotJson, AFrameHasItsLineWhereItIsKnown) {
  Snapshot snapshot;
  snapshot.frames = {{.function = "pay (till.py)", .object = "[python]", .line = 12},
                     {.function = "read", .object = "libc.so.6"}};
  const json table = json::parse(snapshot_json(snapshot, {}));
  ASSERT_EQ(table["frames"].size(), 2U);
  EXPECT_EQ(table["frames"][0].size(), 4U);
  EXPECT_EQ(table["frames"][0][3], 12);
  EXPECT_EQ(table["frames"][1].size(), 3U);
}

TEST(SnapshotJson, KeepsTotalsAndReadsBackWhateverTheNames) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Snapshot s = test::random_snapshot(seed, 100);
    EXPECT_EQ(sum_of(json::parse(snapshot_json(s, {})), "ns"), test::total_ns(s));
  }
  const Snapshot hostile = test::hostile_snapshot();
  const json table = json::parse(snapshot_json(hostile, {}));
  EXPECT_EQ(sum_of(table, "ns"), test::total_ns(hostile));
  for (const std::string& name : test::hostile_names()) {
    EXPECT_THAT(table["strings"].get<std::vector<std::string>>(),
                ::testing::Contains(to_valid_utf8(name)));
  }
}

TEST(SnapshotJson, HasTheSamplingIntervalOfEachRangeInSeconds) {
  Snapshot before, after;
  after.sampling_interval = std::chrono::milliseconds(10);
  const auto json_of = [&] {
    return json::parse(snapshot_json(difference_of(before, after, Normalize::No), {}, {}));
  };
  EXPECT_EQ(json_of()["sampling_interval_seconds"], 0.01);
  EXPECT_TRUE(json_of()["base"]["sampling_interval_seconds"].is_null());
  before.sampling_interval = std::chrono::milliseconds(250);
  EXPECT_EQ(json_of()["base"]["sampling_interval_seconds"], 0.25);
}

TEST(SnapshotJson, OfADifferenceHasBothAmountsEvenOfNothing) {
  const Snapshot before = test::random_snapshot(1), after = test::random_snapshot(2);
  const json table = json::parse(snapshot_json(difference_of(before, after, Normalize::No),
                                               {.snapshots = 3}, {.snapshots = 2}));
  EXPECT_EQ(sum_of(table, "ns"), test::total_ns(after));
  EXPECT_EQ(sum_of(table, "before_ns"), test::total_ns(before));
  EXPECT_EQ(table["snapshots"], 3);
  EXPECT_EQ(table["base"]["snapshots"], 2);
  const json nothing = json::parse(snapshot_json(difference_of({}, {}, Normalize::No), {}, {}));
  EXPECT_EQ(nothing["columns"], table["columns"]);
}

}  // namespace
}  // namespace offcpud
