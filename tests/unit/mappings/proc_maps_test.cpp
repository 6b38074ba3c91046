// SPDX-License-Identifier: Apache-2.0
#include "mappings/proc_maps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace offcpud {
namespace {

TEST(ProcMaps, ALine) {
  const auto line = parse_maps_line(
      "7f1c8a600000-7f1c8a755000 r-xp 00026000 fe:01 1573245                    "
      "/usr/lib/libc.so.6");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->begin, 0x7f1c8a600000U);
  EXPECT_EQ(line->end, 0x7f1c8a755000U);
  EXPECT_EQ(line->offset, 0x26000U);
  EXPECT_TRUE(line->executable);
  EXPECT_EQ(line->inode, (InodeId{0xfe, 1, 1573245}));
  EXPECT_EQ(line->path, "/usr/lib/libc.so.6");
}

TEST(ProcMaps, PathsWithBlanksAndLineFeedsAndNone) {
  EXPECT_EQ(parse_maps_line("1000-2000 rw-p 00000000 08:01 7     /a b\\012c (deleted)")->path,
            "/a b\nc (deleted)");
  const auto anonymous = parse_maps_line("1000-2000 rwxp 00000000 00:00 0 ");
  ASSERT_TRUE(anonymous);
  EXPECT_TRUE(anonymous->path.empty());
  EXPECT_FALSE(anonymous->inode.known());
}

TEST(ProcMaps, OtherTextIsNoLine) {
  for (const char* text : {"", "x", "1000", "1000-", "1000-2000", "2000-1000 r-xp 0 0:0 0 ",
                           "1000-2000 r-xp", "1000-2000 r-xp 0 00:00", "1000-2000 r-xp g 00:00 0 ",
                           "-2000 r-xp 0 0:0 0 ", "fffffffffffffffff-2000 r-xp 0 0:0 0 "}) {
    EXPECT_FALSE(parse_maps_line(text)) << text;
  }
}

TEST(ProcMaps, ThisProcess) {
  ProcProcessReader reader;
  const auto self = static_cast<std::uint32_t>(::getpid());
  const auto processes = reader.processes();
  ASSERT_TRUE(processes);
  EXPECT_EQ(std::count(processes->begin(), processes->end(), self), 1);
  const auto process = reader.read(self);
  ASSERT_TRUE(process && *process);
  EXPECT_EQ(std::count((*process)->threads.begin(), (*process)->threads.end(), self), 1);
  const auto here = reinterpret_cast<std::uint64_t>(&parse_maps_line);
  EXPECT_TRUE(std::any_of((*process)->maps.begin(), (*process)->maps.end(), [&](const auto& line) {
    return line.begin <= here && here < line.end && line.inode.known();
  }));
}

TEST(ProcMaps, AProcessThatDoesNotExist) {
  const auto process = ProcProcessReader().read(0x7fffffff);
  ASSERT_TRUE(process);
  EXPECT_FALSE(*process);
}

}  // namespace
}  // namespace offcpud
