// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "process_mappings_fixture.h"

namespace offcpud {
namespace {

using testing::ElementsAre;

class ProcessScanTest : public test::ProcessMappingsTest {
 protected:
  ProcessScanTest() {
    opener_.files["/a"] = {OpenedFile::Outcome::Opened, test::build_id(1)};
    opener_.files["/b"] = {OpenedFile::Outcome::Opened, test::build_id(2)};
  }
  static MapsLine line(std::uint64_t begin, std::uint64_t end, const char* path,
                       std::uint64_t inode) {
    MapsLine map;
    map.begin = begin;
    map.end = end;
    map.path = path;
    map.inode.inode = inode;
    map.executable = true;
    return map;
  }
  std::int64_t now() { return clock_.now().time_since_epoch().count(); }
  void scan() {
    const auto status = state().scan();
    EXPECT_TRUE(status) << status.error().message();
  }
};

TEST_F(ProcessScanTest, FindsWhatWasThereBefore) {
  EXPECT_TRUE(state().needs_scan());
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  scan();
  EXPECT_FALSE(state().needs_scan());
  EXPECT_EQ(path_at(10, 0, 0x1000), "/a");  // long before
  EXPECT_EQ(state().mappings_of(10)[0].file->object->build_id, test::build_id(1));
}

TEST_F(ProcessScanTest, EventsFromBeforeAreContainedAlready) {
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  scan();
  map(now() - 1, 10, 0x1000, 0x2000, 2, "/b");  // was there before /a
  EXPECT_EQ(path_at(10, now(), 0x1000), "/a");
  task(Kind::Exited, now() - 1, 10, 10);  // of another process of that number
  EXPECT_FALSE(state().mappings_of(10).empty());
  map(now(), 10, 0x1000, 0x2000, 2, "/b");
  EXPECT_EQ(path_at(10, now(), 0x1000), "/b");
}

TEST_F(ProcessScanTest, ThreadsAreKnownFromTheScan) {
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10, 11}};
  scan();
  task(Kind::Exited, now(), 10, 10);
  EXPECT_FALSE(state().mappings_of(10).empty());
  task(Kind::Exited, now(), 10, 11);
  EXPECT_TRUE(state().mappings_of(10).empty());
}

TEST_F(ProcessScanTest, AfterALossDifferencesAreMadeUpFor) {
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  reader_.existing[20] = {{line(0x1000, 0x2000, "/a", 5)}, {20}};
  reader_.existing[30] = {{line(0x1000, 0x2000, "/a", 5)}, {30}};
  scan();
  task(Kind::Lost, now(), 0, 0);
  EXPECT_TRUE(state().needs_scan());
  log_.take();

  reader_.existing[10].maps.push_back(line(0x5000, 0x6000, "/b", 6));  // a library more
  reader_.existing[20].maps = {line(0x7000, 0x8000, "/b", 6)};         // another program
  reader_.existing.erase(30);                                          // ended
  reader_.existing[40] = {{line(0x1000, 0x2000, "/a", 5)}, {40}};      // new
  clock_.advance(std::chrono::seconds(1));
  scan();
  EXPECT_FALSE(state().needs_scan());
  EXPECT_THAT(log_.take(), testing::UnorderedElementsAre("object 2 /b open", "added 10#1 /b",
                                                         "ended 20#2 with 1", "began 20#4 with 1",
                                                         "began 40#5 with 1", "ended 30#3 with 1"));
  EXPECT_EQ(path_at(20, 0, 0x1000), "/a");
  EXPECT_EQ(path_at(20, now(), 0x7000), "/b");
}

TEST_F(ProcessScanTest, AFileThatCannotBeOpenedKeepsTheBuildIdOfItsEvent) {
  map(1, 10, 0x1000, 0x2000, 9, "/secret");
  reader_.existing[10] = {{line(0x1000, 0x2000, "/secret", 5)}, {10}};
  log_.take();
  scan();
  EXPECT_EQ(state().mappings_of(10)[0].file->object->build_id, test::build_id(9));
  EXPECT_THAT(log_.take(), ElementsAre("object 2 /secret closed"));
}

TEST_F(ProcessScanTest, WhatMayNotBeReadIsCountedAndKept) {
  map(1, 10, 0x1000, 0x2000, 1, "/a");
  reader_.existing[10] = {};
  reader_.denied = 10;
  scan();
  EXPECT_EQ(state().counts().processes_unreadable, 1U);
  EXPECT_EQ(path_at(10, 2, 0x1000), "/a");
}

TEST_F(ProcessScanTest, AFailedScanIsStillNeeded) {
  reader_.fails = true;
  EXPECT_FALSE(state().scan());
  EXPECT_TRUE(state().needs_scan());
}

// A JIT compiler that maps code at ever new addresses and unmaps it, of which no event tells.
TEST_F(ProcessScanTest, MappingsThatPileUpAreReadAgain) {
  scan();
  reader_.existing[10] = {{line(0x1000, 0x2000, "", 0)}, {10}};
  for (std::uint64_t i = 1; i < 4096; ++i) {
    map(now(), 10, i * 0x10000, i * 0x10000 + 0x1000, 0, "//anon");
  }
  EXPECT_EQ(reader_.reads, 0);
  clock_.advance(std::chrono::seconds(1));
  map(now(), 10, 0x1000, 0x2000, 0, "//anon");
  EXPECT_EQ(reader_.reads, 1);
  EXPECT_EQ(state().mappings_of(10).size(), 1U);
  EXPECT_EQ(state().counts().mappings, 1U);
}

// One that never answers in time comes last, and not first again.
TEST_F(ProcessScanTest, WhatCameTooLateIsReadLaterInTurn) {
  for (const std::uint32_t tgid : {10U, 20U, 30U}) {
    reader_.existing[tgid] = {{line(0x1000, 0x2000, "/a", 5)}, {tgid}};
    reader_.late.insert(tgid);
  }
  scan();
  EXPECT_FALSE(state().needs_scan());
  EXPECT_TRUE(state().mappings_of(30).empty());
  reader_.asked.clear();
  reader_.late.erase(30);
  for (int i = 0; i < 4; ++i) state().try_again();
  EXPECT_THAT(reader_.asked, ElementsAre(10, 20, 30, 10, 20));
  EXPECT_EQ(state().mappings_of(30).size(), 1U);
}

TEST_F(ProcessScanTest, WhatWasRefusedIsOpenedLaterInTurn) {
  opener_.files["/a"] = opener_.files["/b"] = {OpenedFile::Outcome::Refused, {}};
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  reader_.existing[20] = {{line(0x1000, 0x2000, "/b", 6)}, {20}};
  scan();
  opener_.requests.clear();
  opener_.files["/b"] = {OpenedFile::Outcome::Opened, {}};
  for (int i = 0; i < 3; ++i) state().try_again();
  std::vector<std::string> paths;
  for (const FileRequest& request : opener_.requests) paths.push_back(request.path);
  EXPECT_THAT(paths, ElementsAre("/a", "/b", "/a"));
}

// Each attempt is a question to a reader, and other threads' stacks wait meanwhile.
TEST_F(ProcessScanTest, OfWhatWasRefusedEachObjectIsTriedOnceAndAFewAtATime) {
  constexpr std::uint64_t kFiles = 20;
  for (std::uint64_t i = 0; i < 5 * kFiles; ++i) {
    const std::string path = "/f" + std::to_string(i % kFiles);
    opener_.files[path] = {OpenedFile::Outcome::Refused, {}};
    reader_.existing[10].maps.push_back(
        line(0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, path.c_str(), 1 + i % kFiles));
  }
  reader_.existing[10].threads = {10};
  scan();
  std::map<std::string, int> tried;
  for (int call = 0; call < 10; ++call) {
    opener_.requests.clear();
    state().try_again();
    EXPECT_LE(opener_.requests.size(), 16U);
    std::set<std::string> now;
    for (const FileRequest& request : opener_.requests) {
      EXPECT_TRUE(now.insert(request.path).second) << request.path << " twice in one call";
      ++tried[request.path];
    }
  }
  EXPECT_EQ(tried.size(), kFiles) << "the rest has its turn later";
  for (const auto& [path, times] : tried) EXPECT_GE(times, 3) << path;

  for (auto& [path, file] : opener_.files) file.first = OpenedFile::Outcome::Opened;
  opener_.requests.clear();
  for (int call = 0; call < 3; ++call) state().try_again();
  EXPECT_EQ(opener_.requests.size(), kFiles);
}

// To tell of it walks all mappings of all processes, and drain() comes every 10 ms.
TEST_F(ProcessScanTest, WhatWasRefusedAndOpensIsToldOfOnceASecond) {
  constexpr std::uint64_t kFiles = 64;
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    const std::string path = "/f" + std::to_string(i);
    opener_.files[path] = {OpenedFile::Outcome::Refused, {}};
    reader_.existing[10].maps.push_back(
        line(0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, path.c_str(), 1 + i));
  }
  reader_.existing[10].threads = {10};
  scan();
  for (auto& [path, file] : opener_.files) file.first = OpenedFile::Outcome::Opened;
  int calls = 0;
  std::map<std::string, int> told;
  const auto try_again = [&] {
    log_.take();
    state().try_again();
    bool tells = false;
    for (const std::string& line : log_.take()) {
      if (!line.starts_with("added 10#1 ")) continue;
      tells = true;
      ++told[line];
    }
    if (tells) ++calls;
  };
  opener_.requests.clear();
  for (int call = 0; call < 50; ++call) {
    try_again();
    clock_.advance(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(opener_.requests.size(), kFiles);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told.size(), 16U) << "the first ones at once";
  clock_.advance(std::chrono::milliseconds(500));
  try_again();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(told.size(), kFiles);
  for (const auto& [line, times] : told) EXPECT_EQ(times, 1) << line;
  clock_.advance(std::chrono::seconds(1));
  try_again();
  EXPECT_EQ(calls, 2) << "nothing is left to be told";
}

// As a program does that puts itself into the background.
TEST_F(ProcessScanTest, WhatWasRefusedIsOpenedOfAChildWhoseParentEnded) {
  opener_.files["/a"] = {OpenedFile::Outcome::Refused, {}};
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  scan();
  task(Kind::Forked, now(), 11, 11, 10);
  task(Kind::Forked, now(), 12, 12, 11);
  task(Kind::Exited, now(), 10, 10);
  task(Kind::Exited, now(), 11, 11);
  opener_.files["/a"] = {OpenedFile::Outcome::Opened, {}};
  log_.take();
  state().try_again();
  EXPECT_THAT(log_.take(), ElementsAre("object 1 /a open", "removed 12#3 /a", "added 12#3 /a"));
}

// They have the files of their parent, which are tried once for all of them.
TEST_F(ProcessScanTest, ChildrenOfAProcessKeepNothingElseWaiting) {
  opener_.files["/a"] = opener_.files["/b"] = {OpenedFile::Outcome::Refused, {}};
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  scan();
  for (std::uint32_t child = 100; child < 200; ++child) task(Kind::Forked, now(), child, child, 10);
  map(now(), 20, 0x1000, 0x2000, 2, "/b");
  opener_.requests.clear();
  for (int i = 0; i < 4; ++i) state().try_again();
  std::vector<std::string> paths;
  for (const FileRequest& request : opener_.requests) paths.push_back(request.path);
  EXPECT_THAT(paths, ElementsAre("/a", "/b", "/a", "/b"));
}

TEST_F(ProcessScanTest, ProcessesWithNothingRefusedAnyMoreTakeNoTurn) {
  opener_.files["/a"] = opener_.files["/b"] = {OpenedFile::Outcome::Refused, {}};
  for (std::uint32_t tgid = 100; tgid < 200; ++tgid) {
    reader_.existing[tgid] = {{line(0x1000, 0x2000, "/a", 5)}, {tgid}};
  }
  reader_.existing[300] = {{line(0x1000, 0x2000, "/b", 6)}, {300}};
  scan();
  for (auto& [path, file] : opener_.files) file.first = OpenedFile::Outcome::Opened;
  log_.take();
  state().try_again();  // opens /a for all of them
  state().try_again();
  EXPECT_THAT(log_.take(), testing::Contains("object 2 /b open"));
}

// It is another program by now, and its files were refused as well.
TEST_F(ProcessScanTest, WhatWasRefusedOfAProgramThatReplacedAnotherIsOpenedLater) {
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5)}, {10}};
  scan();
  reader_.existing[10].maps = {line(0x7000, 0x8000, "/b", 6)};
  opener_.files["/b"] = {OpenedFile::Outcome::Refused, {}};
  task(Kind::Lost, now(), 0, 0);
  clock_.advance(std::chrono::seconds(1));
  scan();
  opener_.files["/b"] = {OpenedFile::Outcome::Opened, test::build_id(2)};
  log_.take();
  state().try_again();
  EXPECT_THAT(log_.take(), testing::Contains("object 2 /b open"));
}

TEST_F(ProcessScanTest, OthersAreServedBetweenTheProcessesThatAreToldOf) {
  opener_.files["/a"] = {OpenedFile::Outcome::Refused, {}};
  for (const std::uint32_t tgid : {10U, 20U, 30U}) {
    reader_.existing[tgid] = {{line(0x1000, 0x2000, "/a", 5)}, {tgid}};
  }
  scan();
  int between = 0;
  state().try_again([&between] { ++between; });
  EXPECT_EQ(between, 0) << "nothing opened";
  opener_.files["/a"] = {OpenedFile::Outcome::Opened, test::build_id(1)};
  state().try_again([&between] { ++between; });
  EXPECT_EQ(between, 3);
}

TEST_F(ProcessScanTest, TheLimitOfMappingsHoldsForScansToo) {
  limits_.mappings = 1;
  reader_.existing[10] = {{line(0x1000, 0x2000, "/a", 5), line(0x3000, 0x4000, "/b", 6)}, {10}};
  scan();
  EXPECT_EQ(state().counts().mappings, 1U);
  EXPECT_EQ(state().counts().mappings_refused, 1U);
}

}  // namespace
}  // namespace offcpud
