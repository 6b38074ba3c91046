// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "support/fake_clock.h"
#include "support/temp_tree.h"
#include "symbols/perf_map_file.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;

std::string name_at(const PerfMap& map, std::uint64_t address) {
  return std::string(map.find(address).value_or("-"));
}

TEST(PerfMap, NamesMayHaveSpacesAndNumbersMayHaveAPrefix) {
  const PerfMap map(
      "7f0000001000 40 JS:~handle request server.js:12\n"
      "0x7f0000002000 0x20 py::wait:/srv/app.py\n"
      "7f0000003000 10 Ljava/lang/Object;::wait");
  EXPECT_EQ(name_at(map, 0x7f0000001000), "JS:~handle request server.js:12");
  EXPECT_EQ(name_at(map, 0x7f000000103f), "JS:~handle request server.js:12");
  EXPECT_EQ(name_at(map, 0x7f0000001040), "-");
  EXPECT_EQ(name_at(map, 0x7f000000201f), "py::wait:/srv/app.py");
  EXPECT_EQ(name_at(map, 0x7f0000003001), "Ljava/lang/Object;::wait");
  EXPECT_EQ(name_at(map, 0), "-");
  EXPECT_EQ(name_at(map, ~std::uint64_t{0}), "-");
}

TEST(PerfMap, TheLastWriterWins) {
  const PerfMap map(
      "1000 100 old\n"
      "1040 20 inside\n"
      "2000 10 a\n2010 10 b\n2020 10 c\n"
      "2008 20 over\n"
      "3000 10 same\n3000 10 again\n");
  EXPECT_EQ(name_at(map, 0x103f), "old");
  EXPECT_EQ(name_at(map, 0x1040), "inside");
  EXPECT_EQ(name_at(map, 0x1060), "old");
  EXPECT_EQ(name_at(map, 0x2007), "a");
  EXPECT_EQ(name_at(map, 0x2008), "over");
  EXPECT_EQ(name_at(map, 0x2027), "over");
  EXPECT_EQ(name_at(map, 0x2028), "c");
  EXPECT_EQ(name_at(map, 0x3000), "again");
}

TEST(PerfMap, SkipsWhatMakesNoSense) {
  const PerfMap map(
      "\n \nxyz 10 a\n1000\n1000 10\n1000 10 \n1000 0 empty\n1000 -1 b\n"
      "ffffffffffffffff ffffffffffffffff overflow\n"
      "11111111111111111 10 too_long\n"
      "2000 10 good\n" +
      std::string("3000 10 ze\0ro\n", 14));
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(name_at(map, 0x2000), "good");
  EXPECT_EQ(name_at(map, 0x3000), "ze");
}

TEST(PerfMap, KeepsTheNameOfAFunctionInManyPartsOnce) {
  const std::string name(1000, 'a');
  std::string text = "0 100000 " + name + "\n";
  for (int i = 0; i < 1000; ++i) {
    char line[32];
    (void)std::snprintf(line, sizeof(line), "%x 1 b\n", 16 * i + 8);
    text += line;
  }
  const PerfMap map(text);
  EXPECT_EQ(map.size(), 2001U);
  EXPECT_EQ(name_at(map, 0), name);
  EXPECT_EQ(name_at(map, 0xfffff), name);
  EXPECT_LT(map.bytes(), 2001 * 24 + text.size() + 1000);
  EXPECT_FALSE(map.is_truncated());
}

TEST(PerfMap, OfTooManyLinesTheLastOnesCount) {
  std::string text = "1 1 first\n";
  for (std::size_t i = 0; i < PerfMap::kMaxLines; ++i) text += "10 1 a\n";
  const PerfMap map(text);
  EXPECT_TRUE(map.is_truncated());
  EXPECT_EQ(name_at(map, 1), "-");
  EXPECT_EQ(name_at(map, 0x10), "a");
}

TEST(PerfMap, AgreesWithALookThroughAllLines) {
  std::mt19937 random(9);  // NOLINT(cert-msc51-cpp): the same ones each time
  for (int round = 0; round < 200; ++round) {
    std::string text;
    std::array<int, 256> owner{};
    owner.fill(-1);
    for (int line = 0; line < 40; ++line) {
      const auto start = static_cast<unsigned>(random() % 200);
      const auto size = static_cast<unsigned>(1 + random() % 50);
      char entry[64];
      (void)std::snprintf(entry, sizeof(entry), "%x %x n%d\n", start, size, line);
      text += entry;
      for (unsigned i = start; i < start + size; ++i) owner.at(i) = line;
    }
    const PerfMap map(text);
    for (unsigned i = 0; i < owner.size(); ++i) {
      ASSERT_EQ(name_at(map, i), owner.at(i) < 0 ? "-" : "n" + std::to_string(owner.at(i)));
    }
  }
}

// A directory as that of a process in /proc: PID 812 outside, 7 in its container.
struct PerfMapFileTest : testing::Test {
  PerfMapFileTest() {
    status(::geteuid());
    write("1000 10 one\n");
  }
  void status(uid_t uid) {
    tree.put({{"812/status", "Name:\tjava\nPid:\t812\nUid:\t99\t" + std::to_string(uid) +
                                 "\t99\t99\nNSpid:\t812\t7\nThreads:\t1\n"}});
  }
  void write(const std::string& text) const { std::ofstream(map) << text; }
  PerfMapFile open() { return {finder, {.tgid = 812}}; }
  std::string failure() {
    PerfMapFile file = open();
    const Status status = file.refresh(clock.now());
    EXPECT_FALSE(file.find(0x1000, clock.now()));
    return status ? "" : status.error().message();
  }

  TempTree tree{{"812/status"}, {"812/root/tmp/"}};
  path map = tree.root() / "812/root/tmp/perf-7.map";
  ProcPerfMapFinder finder{tree.root()};
  FakeClock clock;
};

TEST_F(PerfMapFileTest, ReadsTheFileOfTheContainer) {
  PerfMapFile file = open();
  EXPECT_EQ(file.find(0x1000, clock.now()), "one");
}

TEST_F(PerfMapFileTest, ReadsAgainWhenTheFileChangedAndTimeHasPassed) {
  PerfMapFile file = open();
  EXPECT_EQ(file.find(0x1000, clock.now()), "one");
  write("1000 10 two, longer\n");
  EXPECT_EQ(file.find(0x1000, clock.now()), "one");
  clock.advance(PerfMapFile::kInterval);
  EXPECT_EQ(file.find(0x1000, clock.now()), "two, longer");
  write("1000 10 last\n");
  EXPECT_TRUE(file.refresh(clock.now()));
  EXPECT_EQ(file.find(0x1000, clock.now()), "last");
}

TEST_F(PerfMapFileTest, KeepsItsNamesAfterTheProcess) {
  PerfMapFile file = open();
  EXPECT_EQ(file.find(0x1000, clock.now()), "one");
  std::filesystem::remove_all(tree.root() / "812");
  clock.advance(1h);
  EXPECT_EQ(file.find(0x1000, clock.now()), "one");
  EXPECT_FALSE(finder.find({.tgid = 812}));
}

TEST_F(PerfMapFileTest, IsNotThatOfALaterProcessWithTheSameNumber) {
  const std::uint64_t tick = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  std::string stat = "812 (a ) b) S";
  for (int field = 4; field < 22; ++field) stat += " " + std::to_string(field);
  tree.put({{"812/stat", stat + " 4711 0 0\n"}});
  const auto found_at = [&](std::uint64_t start_ns) {
    return static_cast<bool>(finder.find({.tgid = 812, .start_ns = start_ns}));
  };
  EXPECT_TRUE(found_at(4711 * tick));
  EXPECT_TRUE(found_at(4712 * tick - 1));
  EXPECT_FALSE(found_at(4712 * tick));
  EXPECT_FALSE(found_at(4711 * tick - 1));
}

TEST_F(PerfMapFileTest, DoesNotBelieveTheFileOfAnotherUser) {
  status(::geteuid() + 1);
  EXPECT_NE(failure().find("belongs to another user"), std::string::npos);
}

TEST_F(PerfMapFileTest, DoesNotFollowALinkInPlaceOfTheFile) {
  std::filesystem::rename(map, map.native() + ".real");
  std::filesystem::create_symlink("perf-7.map.real", map);
  EXPECT_NE(failure(), "");
}

TEST_F(PerfMapFileTest, StaysBelowTheRootOfTheProcess) {
  const path outside = tree.root() / "outside";
  std::filesystem::create_directory(outside);
  std::filesystem::rename(map, outside / "perf-7.map");
  for (const path& target : {outside, path("../../../outside")}) {
    std::filesystem::remove(map.parent_path());
    std::filesystem::create_symlink(target, map.parent_path());
    EXPECT_EQ(failure().find("open '/tmp/perf-7.map': "), 0U) << target << ": " << failure();
  }
}

TEST_F(PerfMapFileTest, DoesNotReadAFifo) {
  std::filesystem::remove(map);
  ASSERT_EQ(::mkfifo(map.c_str(), 0600), 0);
  EXPECT_NE(failure().find("not a regular file"), std::string::npos);
}

TEST_F(PerfMapFileTest, OfALargeFileItReadsTheEnd) {
  std::string text = "1000 10 first\n";
  while (text.size() < PerfMapFile::kMaxText + 100)
    text += "5000 10 " + std::string(5000, 'x') + "\n";
  text += "2000 10 last\n";
  write(text);
  PerfMapFile file = open();
  EXPECT_EQ(file.find(0x1000, clock.now()), std::nullopt);
  EXPECT_EQ(file.find(0x2000, clock.now()), "last");
  EXPECT_EQ(file.find(0x5000, clock.now()), std::string(1024, 'x'));
}

}  // namespace
}  // namespace offcpud
