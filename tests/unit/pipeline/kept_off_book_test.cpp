// SPDX-License-Identifier: Apache-2.0
#include "pipeline/kept_off_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "pipeline/series_store.h"
#include "support/fake_clock.h"
#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kMs;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Times = std::map<std::string, std::uint64_t>;

class KeptOffBookTest : public testing::Test {
 protected:
  KeptOffBookTest() { book_.set_most_named(2); }

  Times of(std::string_view cgroup) {
    Times times;
    const auto kept_off = book_.of(cgroup);
    if (!kept_off) return times;
    for (const Taker& taker : kept_off->takers) times[taker.by->cgroup] = taker.ns;
    EXPECT_EQ(times.size(), kept_off->takers.size()) << "a taker appears twice";
    return times;
  }

  static std::uint64_t sum(const Times& times) {
    std::uint64_t sum = 0;
    for (const auto& [taker, ns] : times) sum += ns;
    return sum;
  }

  // A pass, after this time.
  View pass(std::chrono::seconds after = 10s) {
    clock_.advance(after);
    View view;
    view.taken = clock_.now();
    for (const char* cgroup : {"/a", "/b"}) {
      SubjectSeries row;
      row.labels = labels_of_series(cgroup);
      row.kept_off = book_.of(cgroup);
      view.subjects.push_back(std::move(row));
    }
    view.kept_off_steps = book_.record(view);
    return view;
  }

  static Times within(const View& view, std::string_view cgroup, std::chrono::seconds window) {
    Times times;
    for (const Taker& taker : kept_off_within(view, cgroup, window).takers) {
      times[taker.by->cgroup] = taker.ns;
    }
    return times;
  }

  FakeClock clock_;
  KeptOffBook book_{[](const std::string& path) { return labels_of_series(path); }};
};

TEST_F(KeptOffBookTest, NamesOtherCgroupsUpToTheLimitAndSumsTheRest) {
  book_.add("/a", "/b", 5 * kMs);
  book_.add("/a", "/c", 4 * kMs);
  book_.add("/a", "/d", 3 * kMs);
  book_.add("/a", "/b", 5 * kMs);
  EXPECT_THAT(of("/a"),
              ElementsAre(Pair("(other)", 3 * kMs), Pair("/b", 10 * kMs), Pair("/c", 4 * kMs)));
  EXPECT_EQ(book_.of("/b"), nullptr) << "nobody kept it off";
}

TEST_F(KeptOffBookTest, ItsOwnThreadsTheKernelAndTheRestAreAlwaysNamed) {
  for (const char* other : {"/b", "/c", "/d", "/a", "(kernel)", "(idle)", "(unknown)"}) {
    book_.add("/a", other, 2 * kMs);
  }
  EXPECT_THAT(of("/a"), ElementsAre(Pair("(idle)", 2 * kMs), Pair("(kernel)", 2 * kMs),
                                    Pair("(other)", 2 * kMs), Pair("(unknown)", 2 * kMs),
                                    Pair("/a", 2 * kMs), Pair("/b", 2 * kMs), Pair("/c", 2 * kMs)));
}

TEST_F(KeptOffBookTest, WhoTookAlmostNothingIsNotNamed) {
  book_.add("/a", "/b", kMs / 2);
  EXPECT_THAT(of("/a"), ElementsAre(Pair("(other)", kMs / 2)));
  book_.add("/a", "/b", kMs / 2);  // a millisecond by now
  EXPECT_THAT(of("/a"), ElementsAre(Pair("(other)", kMs / 2), Pair("/b", kMs / 2)));
}

TEST_F(KeptOffBookTest, WhoTakesMoreOfLateTakesThePlaceOfWhoTookLittle) {
  book_.add("/a", "/b", 50 * kMs);
  book_.add("/a", "/c", 10 * kMs);
  pass(600s);  // long ago
  book_.add("/a", "/b", 50 * kMs);
  book_.add("/a", "/hog", 40 * kMs);
  EXPECT_THAT(of("/a"), ElementsAre(Pair("(removed)", 10 * kMs), Pair("/b", 100 * kMs),
                                    Pair("/hog", 40 * kMs)));
}

TEST_F(KeptOffBookTest, TwoThatAreAlikeDoNotTakeTurns) {
  book_.add("/a", "/b", 50 * kMs);
  book_.add("/a", "/c", 10 * kMs);
  book_.add("/a", "/d", 12 * kMs);
  EXPECT_THAT(of("/a"),
              ElementsAre(Pair("(other)", 12 * kMs), Pair("/b", 50 * kMs), Pair("/c", 10 * kMs)));
}

TEST_F(KeptOffBookTest, ATakerThatIsGoneLeavesItsTime) {
  book_.add("/a", "/b", 5 * kMs);
  book_.add("/a", "/a", 4 * kMs);
  book_.add("/c", "/b", 3 * kMs);
  book_.forget_takers({"/b", "/nobody"});
  EXPECT_THAT(of("/a"), ElementsAre(Pair("(removed)", 5 * kMs), Pair("/a", 4 * kMs)));
  EXPECT_THAT(of("/c"), ElementsAre(Pair("(removed)", 3 * kMs)));
  book_.add("/a", "/d", 5 * kMs);
  book_.add("/a", "/e", 5 * kMs);
  EXPECT_EQ(of("/a").size(), 4U) << "its place is free again";
}

TEST_F(KeptOffBookTest, AFoldedCgroupTakesItsTimesAlong) {
  book_.add("/a/x", "/b", 5 * kMs);
  book_.add("/a/x", "/a/x", 4 * kMs);
  book_.add("/a/x", "(kernel)", 3 * kMs);
  book_.add("/a/(removed)", "(kernel)", 1 * kMs);
  book_.fold("/a/x", "/a/(removed)");
  EXPECT_THAT(of("/a/x"), IsEmpty());
  EXPECT_THAT(of("/a/(removed)"), ElementsAre(Pair("(kernel)", 4 * kMs), Pair("(removed)", 5 * kMs),
                                              Pair("/a/(removed)", 4 * kMs)));
}

TEST_F(KeptOffBookTest, AWindowHasWhatWasAddedWithinIt) {
  book_.add("/a", "/b", 5 * kMs);
  EXPECT_THAT(within(pass(), "/a", 60s), IsEmpty()) << "there is no step before it";
  book_.add("/a", "/b", 6 * kMs);
  const View second = pass();
  EXPECT_THAT(within(second, "/a", 60s), ElementsAre(Pair("/b", 6 * kMs))) << "all that there is";
  EXPECT_EQ(kept_off_within(second, "/a", 60s).length, 10s);
  for (int i = 0; i < 5; ++i) pass();
  book_.add("/a", "/b", 7 * kMs);
  book_.add("/a", "/c", 9 * kMs);
  const View view = pass();
  EXPECT_THAT(within(view, "/a", 30s), ElementsAre(Pair("/b", 7 * kMs), Pair("/c", 9 * kMs)));
  EXPECT_EQ(kept_off_within(view, "/a", 30s).takers.front().by->cgroup, "/c")
      << "the longest first";
  EXPECT_EQ(kept_off_within(view, "/a", 30s).length, 30s);
  EXPECT_THAT(within(view, "/b", 30s), IsEmpty());
  EXPECT_THAT(within(view, "/nobody", 30s), IsEmpty());
  EXPECT_THAT(within(pass(), "/a", 5s), IsEmpty());
}

TEST_F(KeptOffBookTest, WhatWasOfARetiredTakerIsNotNew) {
  book_.add("/a", "/b", 50 * kMs);
  book_.add("/a", "/c", 10 * kMs);
  pass(600s);
  book_.add("/a", "/b", 50 * kMs);
  book_.add("/a", "/hog", 40 * kMs);
  EXPECT_THAT(within(pass(), "/a", 5s), ElementsAre(Pair("/b", 50 * kMs), Pair("/hog", 40 * kMs)));
}

TEST_F(KeptOffBookTest, TheLastMinutesAreBounded) {
  for (int i = 0; i < 1'000; ++i) {
    book_.add("/a", "/b", kMs);
    pass(10s);
  }
  const View view = pass(10s);
  EXPECT_LE(view.kept_off_steps.size(), 62U);
  EXPECT_GE(view.taken - view.kept_off_steps.front()->taken, 10min);
}

// Whoever comes, goes, and is folded: nothing is lost, doubled, or taken back.
TEST_F(KeptOffBookTest, SumsNeverGoDownUnderChurn) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same course in every run
  const auto name = [&](unsigned count) { return "/" + std::to_string(random() % count); };
  Times added;  // by cgroup
  std::map<std::string, Times> before;
  for (int step = 0; step < 5'000; ++step) {
    const std::string path = name(5);
    const std::uint64_t ns = random() % (20 * kMs);
    book_.add(path, name(40), ns);
    added[path] += ns;
    if (step % 7 == 0) book_.forget_takers({name(40)});
    if (step % 50 == 0) {
      const std::string folded = name(5);
      book_.fold(folded, "/(removed)");
      added["/(removed)"] += std::exchange(added[folded], 0);
      before.erase(folded);
    }
    if (step % 5 == 0) pass(1s);
    for (auto& [cgroup, ns_added] : added) {
      Times now = of(cgroup);
      ASSERT_EQ(sum(now), ns_added) << cgroup << " in step " << step;
      for (const auto& [taker, was] : before[cgroup]) {
        const auto found = now.find(taker);
        if (found == now.end()) continue;
        ASSERT_GE(found->second, was) << cgroup << " by " << taker;
      }
      before[cgroup] = std::move(now);
    }
  }
}

}  // namespace
}  // namespace offcpud
