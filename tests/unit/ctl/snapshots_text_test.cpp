// SPDX-License-Identifier: Apache-2.0
#include "ctl/snapshots_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(SnapshotsText, ListsOneLineEach) {
  const auto text = snapshots_text(R"({"snapshots":[
      {"sequence":7,"begin":"2026-11-20T12:00:00.000Z","end":"2026-11-20T12:01:00.000Z",
       "partial":false,"bytes":2048},
      {"sequence":8,"begin":"2026-11-20T12:01:00.000Z","end":"2026-11-20T12:01:30.000Z",
       "partial":true,"bytes":3145728,"unreadable":true}],
      "bytes":3147776,"unreadable":1,"foreign_files":2})");
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text,
            "SEQUENCE  BEGIN                     END                       SIZE     NOTES\n"
            "7         2026-11-20T12:00:00.000Z  2026-11-20T12:01:00.000Z  2.05 kB\n"
            "8         2026-11-20T12:01:00.000Z  2026-11-20T12:01:30.000Z  3.15 MB  "
            "partial, unreadable\n"
            "2 snapshots listed; all kept snapshots take 3.15 MB\n"
            "snapshots of this time that cannot be read: 1\n"
            "2 files in the directory are not snapshots\n");
}

TEST(SnapshotsText, ShowsWhatAFilterAdmits) {
  const auto text = snapshots_text(R"({"snapshots":[
      {"sequence":7,"begin":"a\n","end":"b","bytes":1024,"off_cpu_seconds":1.5,"episodes":12.25}],
      "bytes":1024})");
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text,
            "SEQUENCE  BEGIN  END  SIZE     OFF-CPU  EPISODES  NOTES\n"
            "7         a\\x0a  b    1.02 kB  1.5 s    12\n"
            "1 snapshot listed; all kept snapshots take 1.02 kB\n");
}

TEST(SnapshotsText, NoneIsSaid) {
  EXPECT_EQ(*snapshots_text(R"({"snapshots":[],"bytes":0})"),
            "no snapshots\n0 snapshots listed; all kept snapshots take 0 B\n");
}

TEST(SnapshotsText, RefusesWhatIsNoList) {
  for (const char* const json :
       {"", "[]", "{}", R"({"snapshots":[1]})", R"({"snapshots":1})",
        R"({"snapshots":[{"partial":"x"}]})", R"({"snapshots":[],"unreadable":1e30})"}) {
    EXPECT_FALSE(snapshots_text(json)) << json;
  }
}

}  // namespace
}  // namespace offcpud
