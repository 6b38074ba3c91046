// SPDX-License-Identifier: Apache-2.0
#include "pipeline/goroutine_book.h"

#include <gmock/gmock.h>

#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

using test::kLock;
using test::kWork;

GoroutineWaits goroutine_waits(const std::string& cgroup, WaitFor wait_for, double seconds) {
  GoroutineWaits waits;
  waits.cgroup = cgroup;
  waits.wait_for = wait_for;
  waits.ns = seconds * 1e9;
  return waits;
}

std::shared_ptr<const GoroutineWindow> goroutine_window(std::vector<GoroutineWaits> waits,
                                                        MonotonicTime end = MonotonicTime(1h)) {
  auto window = std::make_shared<GoroutineWindow>();
  window->begin = end - 10s;
  window->end = end;
  window->waits = std::move(waits);
  return window;
}

std::string same(const std::string& cgroup) {
  return cgroup;
}

TEST(GoroutineBook, AddsUpByCgroupAndWhatFor) {
  GoroutineBook book;
  book.add(goroutine_window(
               {goroutine_waits("/a", WaitFor::Lock, 2), goroutine_waits("/a", WaitFor::Lock, 3),
                goroutine_waits("/a", WaitFor::Work, 7), goroutine_waits("/b", WaitFor::Timer, 1)}),
           same);
  book.add(goroutine_window({goroutine_waits("/a", WaitFor::Lock, 0.5)}), same);
  ASSERT_TRUE(book.of("/a"));
  EXPECT_EQ((*book.of("/a"))[kLock], 5'500'000'000U);
  EXPECT_EQ((*book.of("/a"))[kWork], 7'000'000'000U);
  EXPECT_EQ((*book.of("/b"))[kLock], 0U);
  EXPECT_FALSE(book.of("/c"));
}

TEST(GoroutineBook, CountsWhereTheSeriesAre) {
  GoroutineBook book;
  book.add(goroutine_window({goroutine_waits("/a", WaitFor::Lock, 2)}),
           [](const std::string&) { return "(other)"; });
  EXPECT_FALSE(book.of("/a"));
  EXPECT_EQ((*book.of("(other)"))[kLock], 2'000'000'000U);
}

TEST(GoroutineBook, FoldsWithoutLosingTime) {
  GoroutineBook book;
  book.add(goroutine_window({goroutine_waits("/a", WaitFor::Lock, 2),
                             goroutine_waits("/(removed)", WaitFor::Lock, 1)}),
           same);
  book.fold("/a", "/(removed)");
  EXPECT_FALSE(book.of("/a"));
  EXPECT_EQ((*book.of("/(removed)"))[kLock], 3'000'000'000U);
  book.fold("/nobody", "/(removed)");
  EXPECT_EQ((*book.of("/(removed)"))[kLock], 3'000'000'000U);
}

TEST(GoroutineBook, KeepsTheWindowsOfTheLastMinutes) {
  GoroutineBook book;
  for (int i = 0; i < 100; ++i) book.add(goroutine_window({}, MonotonicTime(1h + i * 10s)), same);
  const auto windows = book.windows();
  ASSERT_THAT(windows, SizeIs(61));
  EXPECT_EQ(windows.back()->end, MonotonicTime(1h + 990s));
  EXPECT_EQ(windows.front()->end, MonotonicTime(1h + 390s));
}

TEST(GoroutineBook, KeepsFewerLargeOnes) {
  GoroutineBook book;
  GoroutineWaits large = goroutine_waits("/a", WaitFor::Lock, 1);
  large.function = std::string(GoroutineBook::kMostBytes / 4, 'f');
  for (int i = 0; i < 20; ++i)
    book.add(goroutine_window({large}, MonotonicTime(1h + i * 1s)), same);
  EXPECT_THAT(book.windows(), SizeIs(3));
  EXPECT_EQ((*book.of("/a"))[kLock], 20'000'000'000U) << "the sums stay";
}

}  // namespace
}  // namespace offcpud
