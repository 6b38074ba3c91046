// SPDX-License-Identifier: Apache-2.0
// What the daemon makes of the kernel programs' report on a blocked thread's path. The name is what
// a program chose, so it comes as numbers.
#include "kernel/wait_text.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace offcpud {
namespace {

// As PRINT_TEXT (bpf/describe.bpf.c) writes it.
std::string lines_of(const std::string& keyword, const std::string& text) {
  constexpr std::size_t kLine = 32;
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += kLine) {
    unsigned long words[kLine / 8] = {};
    std::memcpy(words, text.data() + at, std::min(kLine, text.size() - at));
    char line[80];
    std::snprintf(line, sizeof(line), " %lx %lx %lx %lx\n", words[0], words[1], words[2], words[3]);
    lines += keyword + line;
  }
  return lines;
}

WaitDetail read(const std::string& lines) {
  std::map<BlockId, WaitDetail> details;
  add_wait_text("thread 7 100\n" + lines, details);
  return details.empty() ? WaitDetail{} : details.begin()->second;
}

std::string file_in(const std::string& lines) {
  const WaitDetail detail = read(lines);
  return detail.path ? file_of(*detail.path) : "";
}

// `parts`: of the directory, innermost first, and "root\n".
std::string named(const std::string& name, const std::string& parts = "") {
  return file_in("path -100 0\n" + lines_of("name", name) + parts);
}

TEST(WaitText, APathMayHaveAnyBytes) {
  EXPECT_EQ(named("/srv/data/orders.db"), "/srv/data/orders.db");
  EXPECT_EQ(named("/a\nowner 1\n"), "/a\nowner 1\n");
  EXPECT_EQ(named("/a\xff"), "/a\xef\xbf\xbd");
  EXPECT_EQ(named("/" + std::string(31, 'a')), "/" + std::string(31, 'a')) << "a whole line";
  EXPECT_FALSE(read("path -100 0\n" + lines_of("name", "/a\nowner 1\n")).owner_tid);
}

TEST(WaitText, ARelativePathFollowsItsDirectory) {
  const std::string in_srv = lines_of("part", "data") + lines_of("part", "srv");
  EXPECT_EQ(named("a/b", in_srv + "root\n"), "/srv/data/a/b");
  EXPECT_EQ(named("a", "root\n"), "/a");
  EXPECT_EQ(named("a", in_srv), ".../srv/data/a") << "it is too deep";
  EXPECT_EQ(named("a"), "a") << "nobody knows its directory";
  EXPECT_EQ(named("/a", in_srv), "/a");
}

TEST(WaitText, ALongPathIsCut) {
  EXPECT_EQ(named(std::string(255, '/')), std::string(255, '/') + "...");
  EXPECT_EQ(named(std::string(254, '/')), std::string(254, '/'));
}

TEST(WaitText, AFileSystemHasNumberAndType) {
  const std::string fuse = "filesystem 38\n" + lines_of("type", "fuse");
  EXPECT_EQ(read(fuse).device, "0:38 fuse");
  EXPECT_EQ(read(fuse + lines_of("subtype", "sshfs")).device, "0:38 fuse.sshfs");
  EXPECT_EQ(read("filesystem x\n").device, "");
}

WaitDetail call(std::uint32_t number, const std::string& arguments) {
  return read("syscall " + std::to_string(number) + " " + arguments + "\n");
}

TEST(WaitText, AFifoLacksWhatTheCallIsNot) {
  EXPECT_EQ(fifo_end_of(call(__NR_openat, "ffffff9c 7f00 80000 0 0 0")), "writer");
  EXPECT_EQ(fifo_end_of(call(__NR_openat, "ffffff9c 7f00 80001 0 0 0")), "reader");
  EXPECT_EQ(fifo_end_of(call(__NR_open, "7f00 0 0 0 0 0")), "writer");
  EXPECT_EQ(fifo_end_of(call(__NR_creat, "7f00 1a4 0 0 0 0")), "reader");
  EXPECT_EQ(fifo_end_of(call(__NR_openat2, "ffffff9c 7f00 7f08 18 0 0")), "other end");
}

}  // namespace
}  // namespace offcpud
