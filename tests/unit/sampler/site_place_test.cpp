// SPDX-License-Identifier: Apache-2.0
// Which stacks are one place: written outermost first.
#include "sampler/site_place.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace offcpud {
namespace {

using Stack = std::vector<std::pair<std::string, std::string>>;  // function, object

PlaceNumber stack_of(const Stack& stack) {
  PlaceNumber place(3);
  for (const auto& [function, object] : stack) {
    StackFrame frame;
    frame.function = function;
    frame.object = object;
    place.add(frame);
  }
  return place;
}

std::uint64_t place_of(const Stack& stack, bool reached_root = true) {
  return stack_of(stack).number(reached_root);
}

Stack joined(std::initializer_list<Stack> parts) {
  Stack all;
  for (const Stack& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Stack jit(std::initializer_list<const char*> names) {
  Stack stack;
  for (const char* const name : names) stack.emplace_back(name, "[jit]");
  return stack;
}

const Stack kThread = {{"libc.so.6!fn_88ef0", "libc.so.6"},
                       {"JavaThread::thread_main_inner", "libjvm.so"},
                       {"JavaCalls::call_helper", "libjvm.so"}};
const Stack kPark = {{"jdk.internal.misc.Unsafe.park", "[jit]"},
                     {"Unsafe_Park", "libjvm.so"},
                     {"pthread_cond_wait", "libc.so.6"}};
const char* const kAcquire = "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire";

// Three threads take one permit; the loop of one is interpreted, as is Thread.run of all.
TEST(SitePlace, OfJavaIsFromTheInnermostFunctionOfTheApplicationOn) {
  const std::uint64_t place = place_of(joined(
      {kThread, jit({"[jit]", "[jit]", "shop.Main.loop", "shop.Pool.borrow", kAcquire}), kPark}));
  EXPECT_NE(place, 0U);
  EXPECT_EQ(place, place_of(joined({kThread,
                                    jit({"[jit]", "[jit]", "[jit]", "shop.Pool.borrow",
                                         "java.util.concurrent.Semaphore.acquire", kAcquire,
                                         "java.util.concurrent.locks.LockSupport.park"}),
                                    kPark})))
      << "other functions are inlined";
  EXPECT_EQ(place, place_of(joined({jit({"shop.Pool.borrow", "[jit]", kAcquire}), kPark}), false))
      << "the caller was compiled a moment ago";
  EXPECT_NE(place, place_of(joined({kThread, jit({"shop.Main.loop", kAcquire}), kPark})));
  EXPECT_NE(place, place_of(joined({kThread, jit({"shop.Pool.borrow"}), kPark})))
      << "it waits for something else";
}

TEST(SitePlace, OfJavaHasTheFunctionThatWaits) {
  const PlaceNumber inlined = stack_of(joined({kThread, jit({"shop.Till.pay"}), kPark}));
  const PlaceNumber named = stack_of(joined(
      {kThread, jit({"[jit]", "shop.Till.pay", "java.util.concurrent.FutureTask.get"}), kPark}));
  EXPECT_NE(inlined.caller(), 0U);
  EXPECT_EQ(inlined.caller(), named.caller());
  EXPECT_FALSE(inlined.has_library());
  EXPECT_TRUE(named.has_library());
  EXPECT_FALSE(stack_of(joined({kThread, jit({"shop.Till.pay", "[jit]"}), kPark})).has_library());
  EXPECT_EQ(stack_of(joined({kThread, jit({"[jit]"}), kPark})).caller(), 0U);
  EXPECT_EQ(stack_of(joined({kThread, jit({"shop.Till.pay"})})).caller(), 0U) << "no park";
}

// Nothing tells these apart but how many frames there are.
TEST(SitePlace, OfInterpretedJavaIsTheWholeStack) {
  const std::uint64_t place = place_of(joined({kThread, jit({"[jit]", "[jit]"}), kPark}));
  EXPECT_NE(place, 0U);
  EXPECT_NE(place, place_of(joined({kThread, jit({"[jit]", "[jit]", "[jit]"}), kPark})));
  EXPECT_EQ(place_of(joined({jit({"[jit]", "[jit]"}), kPark}), false), 0U);
  const std::uint64_t pool = place_of(
      joined({kThread, jit({"java.util.concurrent.ThreadPoolExecutor.runWorker"}), kPark}));
  EXPECT_NE(pool, place_of(joined({kThread, jit({"[jit]"}), kPark})));
}

// One function of a client's library asks whatever its callers ask.
TEST(SitePlace, OfOtherWaitsOfJavaIsTheWholeStackToo) {
  const Stack reads = {{"shop.Client.read", "[jit]"}, {"recv", "libc.so.6"}};
  EXPECT_NE(place_of(joined({kThread, jit({"shop.Client.get"}), reads})),
            place_of(joined({kThread, jit({"shop.Client.next"}), reads})));
  EXPECT_EQ(place_of(reads, false), 0U);
}

TEST(SitePlace, OfATeamIsFromItsBodyOn) {
  const Stack first = {{"main", "team"}, {"GOMP_parallel", "libgomp.so.1"}};
  const Stack other = {{"libc.so.6!fn_88ef0", "libc.so.6"},
                       {"libgomp.so.1!fn_1cc40", "libgomp.so.1"}};
  const Stack waits = {{"main._omp_fn.0", "team"}, {"libgomp.so.1!fn_1ef10", "libgomp.so.1"}};
  EXPECT_EQ(place_of(joined({first, waits})), place_of(joined({other, waits})));
  EXPECT_NE(place_of(joined({first, waits})),
            place_of(joined({first, {{"main._omp_fn.1", "team"}}, {waits.back()}})));
  EXPECT_EQ(place_of({{"main._omp_fn.0", "team"}, {"[libgomp.so.1+0x12]", "libgomp.so.1"}}), 0U)
      << "the symbols are not read yet";
}

}  // namespace
}  // namespace offcpud
