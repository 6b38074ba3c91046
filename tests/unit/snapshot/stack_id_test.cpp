// SPDX-License-Identifier: Apache-2.0
#include "snapshot/stack_id.h"

#include <gtest/gtest.h>

#include <set>

#include "snapshot/pprof.h"

namespace offcpud {
namespace {

StackFrame frame(const char* function, const char* object, bool kernel = false) {
  StackFrame out;
  out.function = function;
  out.object = object;
  out.kernel = kernel;
  return out;
}

Snapshot snapshot_of(std::vector<StackFrame> frames, StackEntry entry) {
  Snapshot snapshot;
  snapshot.begin = WallTime(std::chrono::seconds(1));
  snapshot.end = WallTime(std::chrono::seconds(2));
  snapshot.frames = std::move(frames);
  entry.ns = 5;
  snapshot.entries = {std::move(entry)};
  return snapshot;
}

std::uint64_t id_of(const Snapshot& snapshot) {
  return StackIds(snapshot).of(snapshot.entries[0]);
}

TEST(StackId, DependsOnTheNamesAndTheirOrderOnly) {
  const Snapshot one = snapshot_of({frame("main", "a"), frame("f", "a"), frame("io", "k", true)},
                                   {.pid = 1, .user = {0, 1}, .kernel = {2}});
  Snapshot same = snapshot_of({frame("io", "k", true), frame("f", "a"), frame("main", "a")},
                              {.pid = 2, .comm = "other", .user = {2, 1}, .kernel = {0}});
  same.frames[1].address = 77;
  same.frames[1].build_id = "abcd";
  EXPECT_EQ(id_of(one), id_of(same));

  std::set<std::uint64_t> different = {id_of(one)};
  Snapshot other = one;
  other.entries[0].user = {1, 0};
  EXPECT_TRUE(different.insert(id_of(other)).second) << "order";
  other = one;
  other.entries[0].kernel = {};
  EXPECT_TRUE(different.insert(id_of(other)).second) << "length";
  other = one;
  other.frames[0] = frame("mai", "na");
  EXPECT_TRUE(different.insert(id_of(other)).second) << "object";
  other.frames[0] = frame("main", "a", true);
  EXPECT_TRUE(different.insert(id_of(other)).second) << "kernel";
}

TEST(StackId, NoStackHasNone) {
  EXPECT_EQ(id_of(snapshot_of({}, {.pid = 1})), 0U);
}

TEST(StackId, AFileGivesTheSameBack) {
  const Snapshot snapshot = snapshot_of({frame("bad\xff name;", "a\nb"), frame("io", "k", true)},
                                        {.user = {0}, .kernel = {1}});
  const auto bytes = pprof_of(snapshot);
  ASSERT_TRUE(bytes);
  const auto back = snapshot_of_pprof(*bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(id_of(*back), id_of(snapshot));
}

TEST(StackId, TheTextIsSixteenDigits) {
  for (const std::uint64_t id : {0ULL, 1ULL, 0xdeadbeefULL, ~0ULL}) {
    EXPECT_EQ(stack_id_text(id).size(), 16U);
    EXPECT_EQ(parse_stack_id(stack_id_text(id)), id);
  }
  for (const char* text : {"", "1", "00000000000000000", "000000000000000g", "-000000000000001"}) {
    EXPECT_EQ(parse_stack_id(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace offcpud
