// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pprof.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "snapshot/gzip.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

constexpr std::size_t kLimit = 1 << 26;

std::string profile_of(const Snapshot& snapshot) {
  auto bytes = pprof_of(snapshot);
  EXPECT_TRUE(bytes) << bytes.error().message();
  return bytes ? *std::move(bytes) : "";
}

void make_text_valid(Snapshot& snapshot) {
  for (StackFrame& frame : snapshot.frames) {
    for (std::string* text : {&frame.function, &frame.object, &frame.build_id}) {
      *text = to_valid_utf8(*text);
    }
  }
  for (StackEntry& entry : snapshot.entries) {
    for (std::string* text : {&entry.comm, &entry.thread_comm, &entry.cgroup, &entry.waker_comm}) {
      *text = to_valid_utf8(*text);
    }
  }
}

TEST(Pprof, ReadBackIsTheSameSnapshot) {
  std::vector<Snapshot> snapshots = {Snapshot{}, test::ordinary_snapshot(),
                                     test::hostile_snapshot()};
  snapshots[1].partial = true;
  for (std::uint32_t seed = 0; seed < 50; ++seed) snapshots.push_back(test::random_snapshot(seed));
  for (Snapshot& snapshot : snapshots) {
    const auto read = snapshot_of_pprof(profile_of(snapshot));
    ASSERT_TRUE(read) << read.error().message();
    make_text_valid(snapshot);
    EXPECT_EQ(*read, snapshot);
  }
}

TEST(Pprof, TheSameSnapshotIsTheSameBytes) {
  EXPECT_EQ(profile_of(test::random_snapshot(4)), profile_of(test::random_snapshot(4)));
}

TEST(Pprof, IsRefusedWhenItIsCutAnywhere) {
  const std::string bytes = profile_of(test::ordinary_snapshot());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(snapshot_of_pprof(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(snapshot_of_pprof(bytes + "x"));
}

// Whatever the bytes: an answer, no crash, and every frame of a stack exists.
TEST(Pprof, DamagedInsideIsAnErrorOrASnapshot) {
  const auto plain = gunzip(profile_of(test::random_snapshot(1)), kLimit);
  ASSERT_TRUE(plain);
  std::mt19937 random(1);
  for (int round = 0; round < 3'000; ++round) {
    std::string damaged = *plain;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto bytes = gzip(damaged);
    ASSERT_TRUE(bytes);
    const auto read = snapshot_of_pprof(*bytes);
    if (!read) continue;
    for (const StackEntry& entry : read->entries) {
      EXPECT_LT(entry.reason, static_cast<std::size_t>(OFFCPUD_HIST_KINDS));
      for (const auto* ids : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
        for (const std::uint32_t id : *ids) EXPECT_LT(id, read->frames.size());
      }
    }
  }
}

TEST(Pprof, ASmallFileCannotTakeAllMemory) {
  const auto bomb = gzip(std::string(kMostPprofBytes + 1, '\0'));
  ASSERT_TRUE(bomb);
  EXPECT_LT(bomb->size(), 100'000U);
  const auto read = snapshot_of_pprof(*bomb);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("larger than the limit"), std::string::npos);
}

TEST(Gzip, RoundTripsAndHonoursItsLimit) {
  for (const std::size_t size : {0U, 1U, 1'000U, 300'000U}) {
    std::string bytes(size, 'a');
    std::mt19937 random(7);
    for (char& c : bytes) c = static_cast<char>(random());
    const auto compressed = gzip(bytes);
    ASSERT_TRUE(compressed);
    const auto back = gunzip(*compressed, size);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, bytes);
    if (size > 0) {
      EXPECT_FALSE(gunzip(*compressed, size - 1));
    }
  }
}

}  // namespace
}  // namespace offcpud
