// SPDX-License-Identifier: Apache-2.0
// Tables of code that programs compile while they run.
#include <gtest/gtest.h>

#include "fake_unwind_maps.h"
#include "unwind/table_builder.h"
#include "unwind/table_store.h"

namespace offcpud {
namespace {

using test::kTgid;

constexpr std::uint64_t kBegin = test::kBase, kEnd = kBegin + 0x40000;

UnwindRule frame_of(std::int32_t size) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RSP);
  rule.cfa_offset = size;
  return rule;
}

// One function at 0x20100, of 256 bytes.
UnwindTable table(std::int32_t frame_size) {
  TableBuilder builder({}, 8);
  builder.add(0x20100, frame_of(frame_size));
  builder.add(0x20200, plain_rule(OFFCPUD_UNWIND_NO_FDE));
  return std::move(builder.table());
}

class TableStoreCodeTest : public testing::Test {
 protected:
  [[nodiscard]] UnwindRule rule_at(std::uint64_t address) const {
    const auto place = store_.place(kTgid, address);
    return place ? store_.rule(place->object, address - place->bias)
                 : plain_rule(OFFCPUD_UNWIND_INVALID);
  }
  void map_code(std::uint64_t begin, std::uint64_t end) {
    EXPECT_TRUE(store_.add_mapping(kTgid, begin, end, 0, OFFCPUD_UNWIND_NO_OBJECT));
  }

  FakeUnwindMaps maps_;
  TableStore store_ = std::move(*TableStore::create(maps_));
};

TEST_F(TableStoreCodeTest, CodeHasItsTable) {
  map_code(kBegin, kEnd);
  ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(48)));
  EXPECT_EQ(rule_at(kBegin + 0x20100).cfa_offset, 48);
  EXPECT_EQ(rule_at(kBegin + 0x201ff).cfa_offset, 48);
  EXPECT_EQ(rule_at(kBegin + 0x20200).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(rule_at(kBegin + 0x100).kind, OFFCPUD_UNWIND_NO_FDE);
}

// Runtimes take more memory as they need it, and so it is mapped in parts, or with other code.
TEST_F(TableStoreCodeTest, PartsAndWhatIsAroundThem) {
  map_code(kBegin - 0x10000, kBegin + 0x20000);
  map_code(kBegin + 0x20000, kEnd);
  ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(48)));
  EXPECT_EQ(rule_at(kBegin + 0x20150).cfa_offset, 48);
  EXPECT_EQ(rule_at(kBegin - 8).kind, OFFCPUD_UNWIND_NO_FDE);
}

TEST_F(TableStoreCodeTest, AnotherTableReplacesItAndTakesNoMoreRoom) {
  map_code(kBegin, kEnd);
  ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(48)));
  const TableStoreStats before = store_.stats();
  for (int size = 64; size < 128; size += 8) {
    ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(size)));
    EXPECT_EQ(rule_at(kBegin + 0x20100).cfa_offset, size);
  }
  const TableStoreStats after = store_.stats();
  EXPECT_EQ(after.rows, before.rows);
  EXPECT_EQ(after.objects, before.objects);
  EXPECT_EQ(after.rules, before.rules);
  EXPECT_EQ(after.prefixes, before.prefixes);
}

TEST_F(TableStoreCodeTest, NothingStaysOfAProcessThatEnded) {
  const TableStoreStats before = store_.stats();
  map_code(kBegin, kEnd);
  ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(48)));
  ASSERT_TRUE(store_.remove_process(kTgid));
  EXPECT_EQ(store_.stats().rows, before.rows);
  EXPECT_EQ(store_.stats().objects, before.objects);
}

TEST_F(TableStoreCodeTest, WhereNothingIsMappedNothingHappens) {
  ASSERT_TRUE(store_.put_code(kTgid, kBegin, kEnd, table(48)));
  EXPECT_FALSE(store_.place(kTgid, kBegin));
  EXPECT_EQ(store_.stats().objects, 0);
}

}  // namespace
}  // namespace offcpud
