// SPDX-License-Identifier: Apache-2.0
#include "pipeline/subject_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using test::kPoll;

CgroupReading running(std::uint64_t cgroup_id, std::uint64_t ns) {
  CgroupReading reading;
  reading.cgroup_id = cgroup_id;
  reading.running_ns = ns;
  return reading;
}

CgroupInProgress sleepers(std::uint32_t threads, std::uint64_t oldest_ns) {
  CgroupInProgress cgroup;
  cgroup.waits.blocked[kPoll] = {.threads = threads, .oldest = {oldest_ns}, .stalled = {threads}};
  return cgroup;
}

std::vector<std::string> cgroups_of(const std::vector<SubjectSeries>& rows) {
  std::vector<std::string> cgroups;
  cgroups.reserve(rows.size());
  for (const SubjectSeries& row : rows) cgroups.push_back(row.labels->cgroup);
  return cgroups;
}

TEST(SubjectRows, WithoutAWalkThereAreSeriesOnly) {
  SeriesStore store(10);
  store.account("/a", running(1, 5));
  const auto rows = subject_rows(store, nullptr, 10);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].in_progress, nullptr);
}

TEST(SubjectRows, ACgroupWithoutThreadsHasNobodyWaiting) {
  SeriesStore store(10);
  store.account("/a", running(1, 5));
  const InProgressByPath nobody;
  const auto rows = subject_rows(store, &nobody, 10);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_NE(rows[0].in_progress, nullptr);
  EXPECT_EQ(rows[0].in_progress->blocked[kPoll].threads, 0U);
}

TEST(SubjectRows, ACgroupThatOnlySleepsHasARowOfItsOwnInItsPlace) {
  SeriesStore store(10);
  store.account("/a", running(1, 5));
  store.account("/system.slice/z.service", running(2, 6));
  const InProgressByPath in_progress = {{"/a", sleepers(1, 1)},
                                        {"/system.slice/idle.service", sleepers(2, 30)}};
  const auto rows = subject_rows(store, &in_progress, 10);
  EXPECT_EQ(cgroups_of(rows), (std::vector<std::string>{"/a", "/system.slice/idle.service",
                                                        "/system.slice/z.service"}));
  EXPECT_EQ(rows[0].running_ns, 5U);
  EXPECT_EQ(rows[1].running_ns, 0U);
  EXPECT_EQ(rows[1].labels->unit, "idle.service");
  EXPECT_EQ(rows[1].in_progress->blocked[kPoll].threads, 2U);
}

TEST(SubjectRows, RowsBeyondTheLimitAreSummedInOther) {
  SeriesStore store(2);
  store.account("/b", running(1, 5));
  const InProgressByPath in_progress = {{"(unknown)", sleepers(1, 10)},
                                        {"/a", sleepers(2, 20)},
                                        {"/b", sleepers(4, 40)},
                                        {"/c", sleepers(8, 80)}};
  const auto rows = subject_rows(store, &in_progress, 2);
  EXPECT_EQ(cgroups_of(rows), (std::vector<std::string>{"(other)", "(unknown)", "/b"}));
  const BlocksInProgress& other = rows[0].in_progress->blocked[kPoll];
  EXPECT_EQ(other.threads, 10U);
  EXPECT_EQ(other.oldest.ns, 80U);
  EXPECT_EQ(other.stalled[0], 10U);
  EXPECT_EQ(rows[2].in_progress->blocked[kPoll].threads, 4U);
}

TEST(SubjectRows, OtherKeepsItsSeriesWhenThreadsAreFoldedIntoIt) {
  SeriesStore store(1);
  store.account("/a", running(1, 5));
  store.account("/b", running(2, 7));  // no room
  const InProgressByPath in_progress = {{"/b", sleepers(3, 30)}};
  const auto rows = subject_rows(store, &in_progress, 1);
  EXPECT_EQ(cgroups_of(rows), (std::vector<std::string>{"(other)", "/a"}));
  EXPECT_EQ(rows[0].running_ns, 7U);
  EXPECT_EQ(rows[0].in_progress->blocked[kPoll].threads, 3U);
}

}  // namespace
}  // namespace offcpud
