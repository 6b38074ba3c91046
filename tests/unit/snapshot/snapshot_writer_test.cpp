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
  int dropped = 0;

  auto write() {
    return [this](const Snapshot& snapshot) {
      begun.release();
      allowed.acquire();
      written.push_back(snapshot.sequence);
    };
  }
  auto drop() {
    return [this] { ++dropped; };
  }
};

TEST(SnapshotWriter, WritesInTheOrderOfSubmission) {
  SlowDisk disk;
  SnapshotWriter writer(disk.write(), disk.drop());
  for (std::uint64_t i = 1; i <= 4; ++i) writer.submit(numbered(i));
  disk.allowed.release(4);
  EXPECT_TRUE(writer.finish(10s));
  EXPECT_THAT(disk.written, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(disk.dropped, 0);
}

TEST(SnapshotWriter, ASlowDiskCostsTheOldestThatWait) {
  SlowDisk disk;
  SnapshotWriter writer(disk.write(), disk.drop());
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
  SnapshotWriter writer(disk.write(), disk.drop());
  writer.submit(numbered(1));
  disk.begun.acquire();
  writer.submit(numbered(2));
  EXPECT_FALSE(writer.finish(20ms));
  EXPECT_EQ(disk.dropped, 1);
  disk.allowed.release();  // lets the thread end
}

TEST(SnapshotWriter, FinishOfNothingIsImmediate) {
  SlowDisk disk;
  SnapshotWriter writer(disk.write(), disk.drop());
  EXPECT_TRUE(writer.finish(0ms));
}

}  // namespace
}  // namespace offcpud
