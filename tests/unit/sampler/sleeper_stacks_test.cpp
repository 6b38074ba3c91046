// SPDX-License-Identifier: Apache-2.0
#include "sampler/sleeper_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "unit/sampler/blocked_thread.h"
#include "unit/symbols/symbol_files.h"
#include "unit/unwind/fake_unwind_maps.h"
#include "unwind/table_store.h"

namespace offcpud {
namespace {

using test::BlockedThread;
using testing::ElementsAre;
using testing::IsEmpty;

// Counts the walks that begin, by the look-ups at one address.
class CountingLookup final : public UnwindLookup {
 public:
  explicit CountingLookup(const UnwindLookup& lookup) : lookup_(lookup) {}

  [[nodiscard]] std::optional<Place> place(std::uint32_t tgid,
                                           std::uint64_t address) const override {
    begun += address == counted;
    return lookup_.place(tgid, address);
  }
  [[nodiscard]] offcpud_unwind_rule rule(std::uint32_t object,
                                         std::uint64_t address) const override {
    return lookup_.rule(object, address);
  }
  std::uint64_t counted = 0;
  mutable int begun = 0;

 private:
  const UnwindLookup& lookup_;
};

struct SleeperStacksTest : testing::Test {
  SleeperStacksTest() : store(*TableStore::create(maps)), lookup(store) {
    lookup.counted = thread.record().regs.ip;
  }

  // Tables of everything that this process maps.
  void add_mappings() {
    std::ifstream lines("/proc/self/maps");
    for (std::string line; std::getline(lines, line);) {
      const auto mapping = code_mapping(line);
      const auto slash = line.find('/');
      if (!mapping || slash == std::string::npos) continue;
      const auto object = store.add_object(object_file(line.substr(slash)).fd.get());
      ASSERT_TRUE(object) << line;
      ASSERT_TRUE(store.add_mapping(static_cast<std::uint32_t>(::getpid()), mapping->start,
                                    mapping->end, mapping->offset, *object));
    }
  }
  static std::vector<std::uint64_t> expected(const BlockedThread& thread) {
    std::vector<std::uint64_t> addresses = {thread.record().regs.ip};
    addresses.insert(addresses.end(), thread.callers().begin(), thread.callers().end());
    return addresses;
  }

  BlockedThread thread;
  FakeUnwindMaps maps;
  TableStore store;
  CountingLookup lookup;
  DirectProcessMemory memory;
  SleeperStacks stacks{&lookup, memory};
};

TEST_F(SleeperStacksTest, SeesTheStackThatTheThreadSees) {
  add_mappings();
  ASSERT_GT(thread.callers().size(), 2U);
  const RemoteStack& stack = stacks.stack_of(thread.record());
  EXPECT_EQ(stack.addresses, expected(thread));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
}

TEST_F(SleeperStacksTest, TellsThreadsApart) {
  add_mappings();
  const BlockedThread other;
  ASSERT_NE(other.record().regs.sp, thread.record().regs.sp);
  EXPECT_EQ(stacks.stack_of(thread.record()).addresses, expected(thread));
  EXPECT_EQ(stacks.stack_of(other.record()).addresses, expected(other));
  EXPECT_EQ(lookup.begun, 2);
}

TEST_F(SleeperStacksTest, WalksOncePerBlock) {
  add_mappings();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(stacks.stack_of(thread.record(7)).addresses, expected(thread));
    stacks.end_walk();
  }
  EXPECT_EQ(lookup.begun, 1);
  (void)stacks.stack_of(thread.record(8));  // it has run in between
  EXPECT_EQ(lookup.begun, 2);
}

// What a walk needs of most stacks is read at once, and for many threads together.
TEST_F(SleeperStacksTest, ReadsAheadForAllBlocksOnce) {
  class Counting final : public ProcessMemory {
   public:
    void read(std::span<MemoryPiece> pieces) override {
      ++reads;
      direct_.read(pieces);
    }
    int reads = 0;

   private:
    DirectProcessMemory direct_;
  };
  add_mappings();
  Counting counting;
  SleeperStacks walked(&lookup, counting);
  const BlockedThread other;
  std::vector<offcpud_blocked_record> records = {thread.record(), other.record()};
  for (auto& record : records) record.sample.flags |= OFFCPUD_SAMPLE_STACK_LATER;
  walked.read_ahead(records);
  EXPECT_EQ(walked.stack_of(records[0]).addresses, expected(thread));
  EXPECT_EQ(walked.stack_of(records[1]).addresses, expected(other));
  EXPECT_EQ(counting.reads, 1);
  walked.read_ahead(records);  // both are known
  EXPECT_EQ(walked.stack_of(records[0]).addresses, expected(thread));
  EXPECT_EQ(counting.reads, 2);
}

TEST_F(SleeperStacksTest, ForgetsBlocksThatHaveEnded) {
  add_mappings();
  (void)stacks.stack_of(thread.record());
  stacks.end_walk();
  stacks.end_walk();  // nobody asked for it in this one
  (void)stacks.stack_of(thread.record());
  EXPECT_EQ(lookup.begun, 2);
}

TEST_F(SleeperStacksTest, TriesAgainWhatDidNotReachTheRoot) {
  const RemoteStack early = stacks.stack_of(thread.record());
  EXPECT_NE(early.end, OFFCPUD_UNWIND_END_ROOT);
  stacks.end_walk();
  add_mappings();
  EXPECT_EQ(stacks.stack_of(thread.record()).addresses, expected(thread));
}

TEST_F(SleeperStacksTest, SaysThatTheStackOfAThreadThatIsGoneCannotBeRead) {
  add_mappings();
  offcpud_blocked_record record = thread.record();
  record.sample.tid = record.sample.local_tid = 1'000'000'007;  // beyond PID_MAX_LIMIT
  const RemoteStack& stack = stacks.stack_of(record);
  EXPECT_THAT(stack.addresses, ElementsAre(record.regs.ip));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_READ);
}

TEST_F(SleeperStacksTest, WalksNothingWithoutTables) {
  SleeperStacks none(nullptr, memory);
  EXPECT_THAT(none.stack_of(thread.record()).addresses, IsEmpty());
  EXPECT_EQ(none.stack_of(thread.record()).end, OFFCPUD_UNWIND_END_READ);
}

}  // namespace
}  // namespace offcpud
