// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_name.h"

#include <gtest/gtest.h>

#include "support/snapshots.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

TEST(SnapshotName, SaysWhatAListNeeds) {
  Snapshot s = test::ordinary_snapshot();
  const SnapshotName name = SnapshotName::of(s);
  EXPECT_EQ(name.text(), "20261118T110640.250Z+60000ms-00000000000000000007.pb.gz");
  s.partial = true;
  EXPECT_EQ(SnapshotName::of(s).text(),
            "20261118T110640.250Z+60000ms-00000000000000000007-partial.pb.gz");
}

TEST(SnapshotName, ReadsBack) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Snapshot s = test::random_snapshot(seed);
    s.begin += std::chrono::milliseconds(seed * 7);
    s.end += std::chrono::milliseconds(seed * 97);
    s.sequence = seed == 0 ? ~std::uint64_t{0} >> 1U : seed;  // the largest
    s.partial = seed % 2 == 0;
    const SnapshotName name = SnapshotName::of(s);
    const auto read = SnapshotName::parse(name.text());
    ASSERT_TRUE(read) << name.text();
    EXPECT_EQ(*read, name);
  }
}

TEST(SnapshotName, AStepBackOfTheClockMakesALengthOfZero) {
  Snapshot s = test::ordinary_snapshot();
  s.end = s.begin - 24h;
  const SnapshotName name = SnapshotName::of(s);
  EXPECT_EQ(name.end, name.begin);
  EXPECT_TRUE(SnapshotName::parse(name.text()));
}

TEST(SnapshotName, SortsByBegin) {
  Snapshot s = test::ordinary_snapshot();
  const std::string first = SnapshotName::of(s).text();
  s.begin += 5ms;
  s.end += 1h;
  s.sequence = 1;
  EXPECT_LT(first, SnapshotName::of(s).text());
}

TEST(SnapshotName, OtherNamesAreNone) {
  for (const char* other :
       {"", ".", "notes.txt", "20261118T110640.250Z+60000ms-00000000000000000007.pb",
        "20261118T110640.250Z+60000ms-7.pb.gz",
        "20261118T110640.250Z+060000ms-00000000000000000007.pb.gz",
        "20261318T110640.250Z+60000ms-00000000000000000007.pb.gz",
        "20261118T110640.250Z+-1ms-00000000000000000007.pb.gz",
        "20261118T110640.250Z+60000ms-00000000000000000007.pb.gz~",
        " 20261118T110640.250Z+60000ms-00000000000000000007.pb.gz",
        "20261118T110640.250Z+60000ms-99999999999999999999.pb.gz",
        "60351118T110640.250Z+60000ms-00000000000000000007.pb.gz",  // more nanoseconds than fit
        "10001118T110640.250Z+60000ms-00000000000000000007.pb.gz",
        "20261118T110640.250Z+60000ms-18446744073709551615.pb.gz",  // 0 would come next
        ".20261118T110640.250Z+60000ms-00000000000000000007.pb.gz.tmp"}) {
    EXPECT_FALSE(SnapshotName::parse(other)) << other;
  }
}

TEST(SnapshotName, TemporaryNamesAreHiddenAndKnown) {
  const std::string name = SnapshotName::of(test::ordinary_snapshot()).text();
  EXPECT_TRUE(temporary_name(name).starts_with('.'));
  EXPECT_TRUE(is_temporary_name(temporary_name(name)));
  for (const char* other : {".tmp", "", ".x.tmp", ".bashrc"})
    EXPECT_FALSE(is_temporary_name(other));
  EXPECT_FALSE(is_temporary_name(name));
}

}  // namespace
}  // namespace offcpud
