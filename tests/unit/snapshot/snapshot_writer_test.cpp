// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <semaphore>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Snapshot numbered(std::uint64_t sequence) {
  Snapshot snapshot;
  snapshot.sequence = sequence;
  return snapshot;
}

// A disk that writes one snapshot each time it is allowed to.
struct SlowDisk {
  std::counting_semaphore<100> allowed{0}, begun{0};
  std::vector<std::uint64_t> written;
  std::uint64_t broken = 0;  // this one fails
  int dropped = 0;

  auto write() {
    return [this](const Snapshot& snapshot) {
      begun.release();
      allowed.acquire();
      if (snapshot.sequence == broken) return false;
      written.push_back(snapshot.sequence);
      return true;
    };
  }
  auto drop() {
    return [this] { ++dropped; };
  }
};

TEST(SnapshotWriter, WritesInTheOrderOfSubmission) {
  SlowDisk disk;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  for (std::uint64_t i = 1; i <= 4; ++i) writer.submit(numbered(i));
  disk.allowed.release(4);
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_THAT(disk.written, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(disk.dropped, 0);
}

TEST(SnapshotWriter, ASlowDiskCostsTheOldestThatWait) {
  SlowDisk disk;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  writer.submit(numbered(1));
  disk.begun.acquire();  // 1 is being written
  for (std::uint64_t i = 2; i <= 7; ++i) writer.submit(numbered(i));
  EXPECT_EQ(disk.dropped, 2);
  disk.allowed.release(5);
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_THAT(disk.written, ElementsAre(1, 4, 5, 6, 7));
}

TEST(SnapshotWriter, FinishGivesUpWhenTheDiskDoesNot) {
  SlowDisk disk;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  writer.submit(numbered(1));
  disk.begun.acquire();
  writer.submit(numbered(2));
  EXPECT_FALSE(writer.finish(20ms));
  EXPECT_EQ(disk.dropped, 1);
  disk.allowed.release();  // lets the thread end
}

TEST(SnapshotWriter, FinishOfNothingNeedsNoDisk) {
  SlowDisk disk;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  EXPECT_TRUE(writer.finish(5s));
}

TEST(SnapshotWriter, TellsOfASnapshotOnceItIsOnTheDisk) {
  SlowDisk disk;
  std::vector<std::uint64_t> told;
  std::vector<std::size_t> written_when_told;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  for (std::uint64_t i = 1; i <= 2; ++i) {
    writer.submit(numbered(i), [&, i] {
      told.push_back(i);
      written_when_told.push_back(disk.written.size());
    });
  }
  disk.begun.acquire();
  EXPECT_TRUE(told.empty());  // 1 is being written
  disk.allowed.release(2);
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_THAT(written_when_told, ElementsAre(1, 2));
}

TEST(SnapshotWriter, TellsNothingOfSnapshotsThatFailOrAreDropped) {
  SlowDisk disk;
  disk.broken = 1;
  std::vector<std::uint64_t> told;
  SnapshotWriter writer([] {}, disk.write(), disk.drop());
  const auto submit = [&](std::uint64_t i) {
    writer.submit(numbered(i), [&told, i] { told.push_back(i); });
  };
  submit(1);
  disk.begun.acquire();  // 1 is being written
  for (std::uint64_t i = 2; i <= 6; ++i) submit(i);
  EXPECT_EQ(disk.dropped, 1);  // 2
  disk.allowed.release(5);
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_THAT(disk.written, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(told, ElementsAre(3, 4, 5, 6));
}

// The daemon measures whether its disk answers or not.
TEST(SnapshotWriter, OpensOnItsOwnThreadAndBeforeItWrites) {
  SlowDisk disk;
  std::latch answers(1);
  SnapshotWriter writer([&] { answers.wait(); }, disk.write(), disk.drop());
  writer.submit(numbered(1));
  EXPECT_FALSE(writer.wait(1ms));
  EXPECT_FALSE(disk.begun.try_acquire());
  disk.allowed.release();
  answers.count_down();
  EXPECT_TRUE(writer.wait(10s));
  EXPECT_THAT(disk.written, ElementsAre(1));
}

TEST(SnapshotWriter, GivesUpADiskThatHangsWhileItIsOpened) {
  SlowDisk disk;
  std::latch answers(1);
  SnapshotWriter writer([&] { answers.wait(); }, disk.write(), disk.drop());
  writer.submit(numbered(1));
  EXPECT_FALSE(writer.finish(1ms));
  EXPECT_EQ(disk.dropped, 1);
  answers.count_down();
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_TRUE(disk.written.empty());
}

}  // namespace
}  // namespace offcpud
