// SPDX-License-Identifier: Apache-2.0
#include "pipeline/disk_load_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "pipeline/series_store.h"
#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Bytes = std::map<std::string, std::uint64_t>;  // written, by "disk by"

DiskLoad written(std::uint64_t bytes) {
  return {.bytes = {0, bytes, 0}, .requests = {0, 1, 0}, .request_ns = 10 * bytes};
}

class DiskLoadBookTest : public testing::Test {
 protected:
  DiskLoadBookTest() { pass(0s); }

  void pass(std::chrono::seconds after = 10s) {
    clock_.advance(after);
    book_.end_pass(clock_.now());
  }
  static Bytes bytes_of(const std::vector<DiskLoadRow>& rows) {
    Bytes bytes;
    for (const DiskLoadRow& row : rows) {
      const std::string key = row.disk + " " + row.by->cgroup;
      EXPECT_TRUE(bytes.try_emplace(key, row.load.bytes[OFFCPUD_DISK_WRITE]).second) << key;
    }
    return bytes;
  }
  Bytes sums() { return bytes_of(book_.sums()); }
  static std::uint64_t total(const Bytes& bytes) {
    std::uint64_t sum = 0;
    for (const auto& [key, each] : bytes) sum += each;
    return sum;
  }

  FakeClock clock_;
  DiskLoadBook book_{[](const std::string& path) { return labels_of_series(path); }};
};

TEST_F(DiskLoadBookTest, SumsByDiskAndCgroup) {
  book_.add("vda", "/a", written(5));
  book_.add("vda", "/a", written(6));
  book_.add("vdb", "/a", written(7));
  book_.add("vda", "(kernel)", written(8));
  EXPECT_THAT(sums(), ElementsAre(Pair("vda (kernel)", 8), Pair("vda /a", 11), Pair("vdb /a", 7)));
  EXPECT_EQ(book_.sums()[1].load.request_ns, 110U);
  EXPECT_EQ(book_.sums()[1].load.requests[OFFCPUD_DISK_WRITE], 2U);
}

TEST_F(DiskLoadBookTest, StepsHaveWhatWasDoneBetweenPasses) {
  book_.add("vda", "/a", written(5));
  pass(4s);
  ASSERT_EQ(book_.steps().size(), 1U) << "the open one";
  EXPECT_EQ(book_.steps()[0]->length(), 4s);
  EXPECT_THAT(bytes_of(book_.steps()[0]->rows), ElementsAre(Pair("vda /a", 5)));
  book_.add("vda", "/a", written(6));
  pass(6s);
  book_.add("vda", "/b", written(7));
  pass(10s);
  const auto steps = book_.steps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_THAT(bytes_of(steps[0]->rows), ElementsAre(Pair("vda /a", 11)));
  EXPECT_THAT(bytes_of(steps[1]->rows), ElementsAre(Pair("vda /b", 7)));
  EXPECT_EQ(steps[0]->end, steps[1]->begin);
}

TEST_F(DiskLoadBookTest, StepsAreOfTheLastMinutes) {
  for (int i = 0; i < 200; ++i) pass(10s);
  const auto steps = book_.steps();
  EXPECT_GE(clock_.now() - steps.front()->begin, DiskLoadBook::kAge);
  EXPECT_LE(clock_.now() - steps.front()->begin, DiskLoadBook::kAge + 20s);
}

TEST_F(DiskLoadBookTest, WhoFindsNoRoomIsOneOfTheOthers) {
  for (std::size_t i = 0; i < DiskLoadBook::kMostNamed + 10; ++i) {
    book_.add("vda", "/" + std::to_string(i), written(1));
  }
  book_.add("vda", "(kernel)", written(1));
  EXPECT_EQ(sums()["vda (other)"], 10U);
  EXPECT_EQ(sums()["vda (kernel)"], 1U);
  EXPECT_EQ(sums().size(), DiskLoadBook::kMostNamed + 2);
}

TEST_F(DiskLoadBookTest, WhoIsIdleGivesWay) {
  for (std::size_t i = 0; i < DiskLoadBook::kMostNamed; ++i) {
    book_.add("vda", "/" + std::to_string(i), written(1));
  }
  pass(300s);
  book_.add("vda", "/7", written(1));
  pass(300s);
  book_.add("vda", "/new", written(1));
  EXPECT_EQ(sums()["vda /new"], 1U);
  EXPECT_EQ(sums()["vda /7"], 2U) << "it was at work";
  EXPECT_EQ(sums()["vda (removed)"], 1U);
}

TEST_F(DiskLoadBookTest, ACgroupThatIsGoneLeavesItsSums) {
  book_.add("vda", "/a", written(5));
  book_.add("vdb", "/a", written(6));
  book_.add("vda", "/b", written(7));
  book_.forget({"/a", "/none"});
  EXPECT_THAT(sums(),
              ElementsAre(Pair("vda (removed)", 5), Pair("vda /b", 7), Pair("vdb (removed)", 6)));
}

TEST_F(DiskLoadBookTest, FurtherDisksAreOne) {
  for (std::size_t i = 0; i < DiskLoadBook::kMostDisks + 3; ++i) {
    book_.add("sd" + std::to_string(i), "/a", written(1));
  }
  EXPECT_EQ(sums()["(other) /a"], 3U);
}

// Whatever comes and goes: nothing is lost, sums never go down, and the bounds hold.
TEST_F(DiskLoadBookTest, NothingIsLost) {
  std::mt19937 random(5);
  const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  std::uint64_t added = 0;
  for (int i = 0; i < 3'000; ++i) {
    for (unsigned n = below(20); n > 0; --n) {
      const std::uint64_t bytes = 1 + below(9);
      added += bytes;
      book_.add("sd" + std::to_string(below(80)), "/" + std::to_string(below(100)), written(bytes));
    }
    if (below(50) == 0) book_.forget({"/" + std::to_string(below(100))});
    if (below(3) == 0) pass(std::chrono::seconds(below(100)));
    ASSERT_EQ(total(sums()), added);
    ASSERT_LE(sums().size(), DiskLoadBook::kMostNamed + 2 * (DiskLoadBook::kMostDisks + 1));
  }
}

}  // namespace
}  // namespace offcpud
