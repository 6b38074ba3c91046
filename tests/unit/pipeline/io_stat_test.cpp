// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io_stat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::uint32_t kVda = 254U << 20, kNvme = 259U << 20 | 3U;

DiskLoad load(std::uint64_t read, std::uint64_t written, std::uint64_t reads,
              std::uint64_t writes) {
  return {.bytes = {read, written, 0}, .requests = {reads, writes, 0}};
}

// The example of the kernel's documentation, and lines of other forms.
TEST(ParseIoStat, TakesLinesAndKeysThatItKnows) {
  const auto lines = parse_io_stat(
      "254:0 rbytes=90112 wbytes=299008000 rios=22 wios=1252 dbytes=50331648 dios=3021\n"
      "259:3\n"
      "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0 cost.vrate=100.00 "
      "use_delay=0 rnew=7 rbytesmore=9\n"
      "no device=1\n8:x rbytes=1\n\n"
      "8:32 rbytes=12x wios=\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].device, kVda);
  EXPECT_EQ(lines[0].load,
            (DiskLoad{.bytes = {90112, 299008000, 50331648}, .requests = {22, 1252, 3021}}));
  EXPECT_EQ(lines[1].device, kNvme);
  EXPECT_EQ(lines[1].load, DiskLoad{});
  EXPECT_EQ(lines[2].device, 8U << 20 | 16U);
  EXPECT_EQ(lines[2].load, load(1459200, 314773504, 192, 353));
  EXPECT_EQ(lines[3].load, DiskLoad{}) << "what is no number counts as nothing";
  EXPECT_THAT(parse_io_stat(""), IsEmpty());
}

class IoStatTest : public testing::Test {
 protected:
  void put(const std::string& cgroup, const std::string& text) {
    tree_.put({{cgroup.substr(1) + (cgroup == "/" ? "" : "/") + "io.stat", text}});
  }
  // Bytes read, by disk and cgroup.
  std::map<std::pair<std::string, std::string>, std::uint64_t> read(
      const std::vector<std::string>& paths) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> bytes;
    for (const DiskLoadOfPath& each : io_stat_.read(paths)) {
      EXPECT_TRUE(bytes.try_emplace({each.disk, each.cgroup}, each.load.bytes[0]).second);
    }
    return bytes;
  }
  static std::pair<std::string, std::string> on_vda(const std::string& cgroup) {
    return {"vda", cgroup};
  }

  TempTree tree_;
  IoStat io_stat_{tree_.root(), [](std::uint32_t device) {
                    return device == kVda ? std::string("vda") : std::to_string(device);
                  }};
};

TEST_F(IoStatTest, TellsWhatCameSinceTheLastReading) {
  put("/system.slice/db.service", "254:0 rbytes=1000 rios=1\n");
  EXPECT_THAT(read({"/system.slice/db.service"}), IsEmpty()) << "the first reading is the base";
  put("/system.slice/db.service", "254:0 rbytes=1500 rios=2\n");
  EXPECT_THAT(read({"/system.slice/db.service"}),
              ElementsAre(Pair(on_vda("/system.slice/db.service"), 500)));
  EXPECT_THAT(read({"/system.slice/db.service"}), IsEmpty());
  put("/system.slice/db.service", "254:0 rbytes=70 rios=1\n");
  EXPECT_THAT(read({"/system.slice/db.service"}),
              ElementsAre(Pair(on_vda("/system.slice/db.service"), 70)))
      << "another cgroup has the path";
}

TEST_F(IoStatTest, ACgroupWithoutTheControllerCountsWhereTheControllerEnds) {
  tree_.put({{"kubepods.slice/pod.slice/a.scope/"}, {"kubepods.slice/pod.slice/b.scope/"}});
  put("/kubepods.slice/pod.slice", "254:0 rbytes=1\n");
  const std::vector<std::string> paths = {"/kubepods.slice/pod.slice/a.scope",
                                          "/kubepods.slice/pod.slice/b.scope", "/", "(other)"};
  (void)read(paths);
  put("/kubepods.slice/pod.slice", "254:0 rbytes=11\n");
  EXPECT_THAT(read(paths), ElementsAre(Pair(on_vda("/kubepods.slice/pod.slice"), 10)))
      << "once, whoever is below";
}

TEST_F(IoStatTest, WhatIsChargedToNobodyIsUnknown) {
  put("/", "254:0 rbytes=1000\n");
  put("/a.service", "254:0 rbytes=100\n");
  (void)read({"/a.service"});
  put("/", "254:0 rbytes=1900\n");
  put("/a.service", "254:0 rbytes=300\n");
  EXPECT_THAT(read({"/a.service"}), UnorderedElementsAre(Pair(on_vda("/a.service"), 200),
                                                         Pair(on_vda("(unknown)"), 700)));
}

TEST_F(IoStatTest, OfManyCgroupsEachHasItsTurn) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < IoStat::kMostFiles + 50; ++i) {
    paths.push_back("/s" + std::to_string(1000 + i) + ".service");
    put(paths.back(), "254:0 rbytes=1\n");
  }
  (void)read(paths);
  (void)read(paths);
  for (const std::string& path : paths) put(path, "254:0 rbytes=3\n");
  const auto first = read(paths), second = read(paths);
  EXPECT_EQ(first.size(), IoStat::kMostFiles);
  EXPECT_EQ(second.size(), 50U);
}

TEST_F(IoStatTest, APauseBeginsAnew) {
  put("/a.service", "254:0 rbytes=100\n");
  (void)read({"/a.service"});
  io_stat_.forget();
  put("/a.service", "254:0 rbytes=900\n");
  EXPECT_THAT(read({"/a.service"}), IsEmpty());
}

}  // namespace
}  // namespace offcpud
