// SPDX-License-Identifier: Apache-2.0
#include "pipeline/exemplar_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kDisk;
using test::kNow;
using ::testing::ElementsAre;
using ::testing::SizeIs;

FoundExemplar found(std::string cgroup, std::uint64_t duration_ns, std::uint64_t stack,
                    WallTime ended = kNow) {
  return {.cgroup = std::move(cgroup),
          .process_start_ns = 5,
          .kind = kDisk,
          .exemplar = {.duration_ns = duration_ns, .ended = ended, .pid = 7, .stack = stack}};
}

std::vector<std::uint64_t> stacks_of(const std::shared_ptr<const KindExemplars>& exemplars) {
  std::vector<std::uint64_t> stacks;
  if (!exemplars) return stacks;
  for (const Exemplar& one : (*exemplars)[kDisk]) stacks.push_back(one.stack);
  return stacks;
}

TEST(ExemplarBook, KeepsTheLongestOfEveryTwoOctavesByDuration) {
  ExemplarBook book;
  book.add({found("/a", 9'000'000, 1), found("/a", 5'000'000'000, 2), found("/a", 8'000'000, 3),
            found("/b", 1'000, 4)},
           kNow);
  EXPECT_THAT(stacks_of(book.of_cgroup("/a")), ElementsAre(1, 2));
  EXPECT_THAT(stacks_of(book.of_cgroup("/b")), ElementsAre(4));
  EXPECT_EQ(book.of_cgroup("/c"), nullptr);
  EXPECT_THAT(stacks_of(book.of_process(7, 5)), ElementsAre(4, 1, 2));
  EXPECT_EQ(book.of_process(7, 6), nullptr) << "another process of the same pid";
}

TEST(ExemplarBook, ALaterSnapshotTakesThePlaceOfAnEarlierOne) {
  ExemplarBook book;
  book.add({found("/a", 9'000'000, 1), found("/a", 5'000'000'000, 2)}, kNow);
  const auto before = book.of_cgroup("/a");
  book.add({found("/a", 8'000'000, 3, kNow + 60s)}, kNow + 60s);
  EXPECT_THAT(stacks_of(book.of_cgroup("/a")), ElementsAre(3, 2));
  EXPECT_GT((*book.of_cgroup("/a"))[kDisk][0].round, (*book.of_cgroup("/a"))[kDisk][1].round);
  EXPECT_THAT(stacks_of(before), ElementsAre(1, 2)) << "a View changed";
}

TEST(ExemplarBook, ForgetsWhatIsOld) {
  ExemplarBook book;
  book.add({found("/a", 1'000, 1), found("/a", 9'000'000, 2, kNow + 30s), found("/b", 1'000, 3)},
           kNow + 30s);
  const auto before = book.of_cgroup("/a");
  book.forget_old(kNow + ExemplarBook::kKeptFor + 1s);
  EXPECT_THAT(stacks_of(before), ElementsAre(1, 2)) << "a View changed";
  EXPECT_THAT(stacks_of(book.of_cgroup("/a")), ElementsAre(2));
  EXPECT_EQ(book.of_cgroup("/b"), nullptr);
  book.add({found("/b", 1'000, 3)}, kNow + ExemplarBook::kKeptFor + 1s);
  EXPECT_EQ(book.of_cgroup("/b"), nullptr) << "it came too late";
}

TEST(ExemplarBook, IsBounded) {
  ExemplarBook book;
  std::vector<FoundExemplar> many;
  for (std::size_t i = 0; i < ExemplarBook::kMostSubjects + 10; ++i) {
    many.push_back(found("/" + std::to_string(i), 1'000, i));
  }
  book.add(many, kNow);
  std::size_t kept = 0;
  for (const FoundExemplar& one : many) kept += book.of_cgroup(one.cgroup) != nullptr ? 1 : 0;
  EXPECT_EQ(kept, ExemplarBook::kMostSubjects);
}

TEST(ExemplarBook, AProcessOfAnotherNamespaceHasACgroupOnly) {
  ExemplarBook book;
  FoundExemplar foreign = found("/a", 1'000, 1);
  foreign.exemplar.pid = 0;
  book.add({foreign}, kNow);
  EXPECT_THAT(stacks_of(book.of_cgroup("/a")), SizeIs(1));
  EXPECT_EQ(book.of_process(0, 5), nullptr);
}

}  // namespace
}  // namespace offcpud
