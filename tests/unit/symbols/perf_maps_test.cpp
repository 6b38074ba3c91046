// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_maps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/fake_clock.h"
#include "support/temp_tree.h"
#include "unit/symbols/fake_perf_map.h"

namespace offcpud {
namespace {

struct PerfMapsTest : testing::Test {
  PerfMaps::Process add(std::uint32_t pid, const std::string& map) {
    return put_perf_map(tree, pid, map);
  }

  TempTree tree;
  FakeClock clock;
};

TEST_F(PerfMapsTest, NamesTheCodeOfEachProcess) {
  PerfMaps maps(std::make_unique<ProcPerfMapFinder>(tree.root()), {});
  const auto a = add(7, "1000 10 JS:*a\n1010 10 JS:\x01\xff\n");
  const auto b = add(8, "1000 10 JS:*b\n");
  EXPECT_EQ(maps.find(a, 0x1000, clock.now()), "JS:*a");
  EXPECT_EQ(maps.find(a, 0x1010, clock.now()), "JS:?\ufffd");
  EXPECT_EQ(maps.find(b, 0x1000, clock.now()), "JS:*b");
  EXPECT_EQ(maps.find(b, 0x1010, clock.now()), std::nullopt);
  EXPECT_EQ(maps.find({9, 9}, 0x1000, clock.now()), std::nullopt);
}

TEST_F(PerfMapsTest, NamesTheCodeOfACapturedProcessAfterItHasExited) {
  PerfMaps maps(std::make_unique<ProcPerfMapFinder>(tree.root()), {});
  const auto process = add(7, "1000 10 early\n");
  maps.capture(process, clock.now());
  add(7, "1000 10 at the end\n");
  maps.capture(process, clock.now());
  std::filesystem::remove_all(tree.root() / "7");
  clock.advance(std::chrono::hours(1));
  EXPECT_EQ(maps.find(process, 0x1000, clock.now()), "at the end");
}

TEST_F(PerfMapsTest, ANumberThatIsUsedAgainIsAnotherProcess) {
  PerfMaps maps(std::make_unique<ProcPerfMapFinder>(tree.root()), {});
  auto before = add(7, "1000 10 now\n");
  before.start_ns /= 2;
  EXPECT_EQ(maps.find(before, 0x1000, clock.now()), std::nullopt);
}

TEST_F(PerfMapsTest, StaysWithinItsLimits) {
  std::string map;
  for (int i = 0; i < 1000; ++i) map += std::to_string(1000 + i) + " 1 name\n";
  const auto one = [&] {
    PerfMaps maps(std::make_unique<ProcPerfMapFinder>(tree.root()), {});
    maps.capture(add(100, map), clock.now());
    return maps.bytes();
  }();
  ASSERT_GT(one, 10'000U);
  PerfMaps few(std::make_unique<ProcPerfMapFinder>(tree.root()), {.processes = 3});
  PerfMaps small(std::make_unique<ProcPerfMapFinder>(tree.root()), {.bytes = 2 * one + one / 2});
  for (std::uint32_t pid = 100; pid < 110; ++pid) {
    const auto process = add(pid, map);
    EXPECT_EQ(few.find(process, 0x1000, clock.now()), "name");
    EXPECT_EQ(small.find(process, 0x1000, clock.now()), "name");
    EXPECT_LE(few.processes(), 3U);
    EXPECT_LE(small.bytes(), 2 * one + one / 2);
  }
  EXPECT_EQ(small.processes(), 2U);
}

}  // namespace
}  // namespace offcpud
