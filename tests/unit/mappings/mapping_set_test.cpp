// SPDX-License-Identifier: Apache-2.0
#include "mappings/mapping_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const auto kA = std::make_shared<const MappedFile>(MappedFile{.path = "/a"});
const auto kB = std::make_shared<const MappedFile>(MappedFile{.path = "/b"});

class MappingSetTest : public ::testing::Test {
 protected:
  std::vector<Mapping> all() { return {set_.all().begin(), set_.all().end()}; }
  std::size_t total_ = 0;
  MappingSet set_{total_};
};

TEST_F(MappingSetTest, KeepsTheOrderOfAddresses) {
  set_.put({0x3000, 0x4000, 0, kA});
  set_.put({0x1000, 0x2000, 0, kB});
  EXPECT_THAT(all(), ElementsAre(Mapping{0x1000, 0x2000, 0, kB}, Mapping{0x3000, 0x4000, 0, kA}));
}

TEST_F(MappingSetTest, AMappingInTheMiddleCutsAnotherInTwo) {
  set_.put({0x1000, 0x9000, 0x100, kA});
  const auto change = set_.put({0x3000, 0x4000, 0, kB});
  const Mapping left{0x1000, 0x3000, 0x100, kA};
  const Mapping right{0x4000, 0x9000, 0x3100, kA};
  EXPECT_THAT(all(), ElementsAre(left, Mapping{0x3000, 0x4000, 0, kB}, right));
  EXPECT_THAT(change.removed, ElementsAre(Mapping{0x1000, 0x9000, 0x100, kA}));
  EXPECT_THAT(change.added, ElementsAre(left, Mapping{0x3000, 0x4000, 0, kB}, right));
}

TEST_F(MappingSetTest, AMappingOverSeveralReplacesThem) {
  set_.put({0x1000, 0x3000, 0, kA});
  set_.put({0x4000, 0x5000, 0, kA});
  set_.put({0x6000, 0x8000, 0, kA});
  set_.put({0x2000, 0x7000, 0, kB});
  EXPECT_THAT(all(), ElementsAre(Mapping{0x1000, 0x2000, 0, kA}, Mapping{0x2000, 0x7000, 0, kB},
                                 Mapping{0x7000, 0x8000, 0x1000, kA}));
}

TEST_F(MappingSetTest, TheSameAgainChangesNothing) {
  set_.put({0x1000, 0x3000, 0, kA});
  const auto change = set_.put({0x1000, 0x3000, 0, kA});
  EXPECT_THAT(change.added, IsEmpty());
  EXPECT_THAT(change.removed, IsEmpty());
}

TEST_F(MappingSetTest, NeighboursAndEmptyOnesDoNotOverlap) {
  set_.put({0x1000, 0x2000, 0, kA});
  EXPECT_THAT(set_.put({0x2000, 0x3000, 0, kB}).removed, IsEmpty());
  EXPECT_THAT(set_.put({0x1800, 0x1800, 0, kB}).added, IsEmpty());
  EXPECT_EQ(set_.at(0xfff), nullptr);
  EXPECT_EQ(set_.at(0x1fff)->file, kA);
  EXPECT_EQ(set_.at(0x2000)->file, kB);
  EXPECT_EQ(set_.at(0x3000), nullptr);
}

TEST_F(MappingSetTest, CopiesCountThemselves) {
  set_.put({0x1000, 0x2000, 0, kA});
  {
    MappingSet copy(set_);
    copy.put({0x5000, 0x6000, 0, kA});
    EXPECT_EQ(total_, 3U);
  }
  EXPECT_EQ(total_, 1U);
}

// Against a page table that is kept page by page.
TEST_F(MappingSetTest, EqualsAPageTable) {
  std::map<std::uint64_t, std::pair<const MappedFile*, std::uint64_t>> pages;
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t begin = random() % 64;
    const std::uint64_t end = begin + 1 + random() % 16;
    const std::uint64_t offset = random() % 8;
    const auto& file = random() % 2 == 0 ? kA : kB;
    set_.put({begin, end, offset, file});
    for (std::uint64_t page = begin; page < end; ++page) {
      pages[page] = {file.get(), offset + page - begin};
    }
    for (std::uint64_t page = 0; page < 90; ++page) {
      const Mapping* mapping = set_.at(page);
      const auto expected = pages.find(page);
      ASSERT_EQ(mapping != nullptr, expected != pages.end()) << round;
      if (mapping == nullptr) continue;
      ASSERT_EQ(mapping->file.get(), expected->second.first) << round;
      ASSERT_EQ(mapping->offset + page - mapping->begin, expected->second.second) << round;
    }
  }
  EXPECT_EQ(total_, set_.size());
}

}  // namespace
}  // namespace offcpud
