// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace offcpud {
namespace {

std::size_t reason_named(const std::string& name) {
  const auto* const found = std::ranges::find(kHistKindNames, name);
  EXPECT_NE(found, kHistKindNames.end()) << name;
  return static_cast<std::size_t>(found - kHistKindNames.begin());
}

// The page has the same cases: tests/page/idle_test.mjs.
TEST(SnapshotFilter, LeavesOutIdleBlocks) {
  std::ifstream file(OFFCPUD_SOURCE_DIR "/tests/data/idle_blocks.tsv");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream fields(line);
    std::string wait_for, reason, whose, idle;
    fields >> wait_for >> reason >> whose >> idle;
    const auto named = wait_for_named(wait_for);
    ASSERT_TRUE(named) << line;
    Snapshot snapshot;
    snapshot.frames = {{.function = "wait"}};
    StackEntry entry{.reason = reason_named(reason), .wait_for = *named};
    (whose == "kernel" ? entry.kernel : entry.user) = {0};
    const SnapshotFilter all = {}, busy = {.idle = false};
    EXPECT_TRUE(FilteredEntries(snapshot, all).admits(entry)) << line;
    EXPECT_EQ(FilteredEntries(snapshot, busy).admits(entry), idle == "no") << line;
  }
  EXPECT_GE(cases, 60U);
}

}  // namespace
}  // namespace offcpud
