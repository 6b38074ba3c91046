// SPDX-License-Identifier: Apache-2.0
// Stacks of threads that were off the CPU, address by address against elfutils' eu-stack and
// against what the threads' own C++ runtime sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "unwind_probe.h"
#include "zoo_process.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

Addresses addresses_of(const offcpud_unwind_stack& stack) {
  return {stack.addresses, stack.addresses + stack.frames};
}

bool ends_with(const Addresses& stack, const Addresses& tail) {
  return stack.size() >= tail.size() && std::equal(tail.rbegin(), tail.rend(), stack.rbegin());
}

std::string text_of(const Addresses& stack) {
  std::ostringstream text;
  for (const std::uint64_t address : stack) text << ' ' << std::hex << address;
  return text.str();
}

// eu-stack may come at a moment when the thread runs, so it gets several.
bool finds_eu_stack(const ZooProcess& zoo, const std::set<Addresses>& seen, std::string& last) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto stacks = eu_stack(zoo.pid());
    const auto waiter = stacks.find(zoo.waiter());
    if (waiter == stacks.end()) continue;
    if (seen.contains(waiter->second)) return true;
    last = text_of(waiter->second);
  }
  return false;
}

class Unwind : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Unwind, SeesWhatEuStackSees) {
  const auto [program, kind] = GetParam();
  auto probe = UnwindProbe::start();
  if (!probe && probe.error().kind() == ErrorKind::Permission) {
    GTEST_SKIP() << probe.error().message();
  }
  ASSERT_TRUE(probe) << probe.error().message();
  const ZooProcess zoo(std::string(OFFCPUD_WORKLOADS) + "/" + program, kind);
  ASSERT_TRUE(zoo.is_ready());
  std::this_thread::sleep_for(100ms);  // what it loads at run time is mapped now
  const auto tracked = probe->track(zoo.pid());
  ASSERT_TRUE(tracked) << tracked.error().message();
  const auto samples = probe->watch(zoo.pid(), 600ms);
  ASSERT_TRUE(samples) << samples.error().message();

  std::set<Addresses> seen;
  std::uint64_t frames = 0, walk_ns = 0, wrong = 0;
  std::string stray;
  for (const unwind_probe_sample& sample : *samples) {
    const Addresses stack = addresses_of(sample.stack);
    frames += stack.size();
    walk_ns += sample.walk_ns;
    const bool is_waiter = sample.tid == static_cast<__u32>(zoo.waiter());
    if (sample.stack.end != OFFCPUD_UNWIND_END_ROOT ||
        (is_waiter && !ends_with(stack, zoo.above()))) {
      wrong++;
      stray = "thread " + std::to_string(sample.tid) + " of " + std::to_string(sample.tgid) +
              ", end " + std::to_string(sample.stack.end) + ":" + text_of(stack);
    }
    if (is_waiter) seen.insert(stack);
  }
  EXPECT_EQ(probe->lost(), 0U);
  ASSERT_GE(samples->size(), 10U);
  EXPECT_LE(wrong * 100, samples->size()) << stray << "\nabove:" << text_of(zoo.above());
  std::printf("%s %s: %zu stacks, %zu different, %.1f frames, %.0f ns per frame\n", program, kind,
              samples->size(), seen.size(), double(frames) / double(samples->size()),
              double(walk_ns) / double(frames));

  // A thread in vfork cannot be stopped: ptrace, and with it eu-stack, sees it afterwards only.
  if (const std::string name = kind; name == "vfork" || name == "spawn") return;
  std::string theirs;
  EXPECT_TRUE(finds_eu_stack(zoo, seen, theirs))
      << "eu-stack:" << theirs << "\nours:" << text_of(*seen.begin());
}

TEST(UnwindEnds, SayThatNothingIsKnownOfTheProcess) {
  auto probe = UnwindProbe::start();
  if (!probe && probe.error().kind() == ErrorKind::Permission) {
    GTEST_SKIP() << probe.error().message();
  }
  ASSERT_TRUE(probe) << probe.error().message();
  const ZooProcess zoo(std::string(OFFCPUD_WORKLOADS) + "/stack_zoo", "nanosleep");
  ASSERT_TRUE(zoo.is_ready());
  const auto samples = probe->watch(zoo.pid(), 200ms);
  ASSERT_TRUE(samples);
  ASSERT_FALSE(samples->empty());
  for (const unwind_probe_sample& sample : *samples) {
    EXPECT_NE(sample.stack.end, OFFCPUD_UNWIND_END_ROOT);
    EXPECT_GE(sample.stack.frames, 1U);  // where it is, is known
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Unwind,
                         ::testing::Combine(::testing::Values("stack_zoo", "stack_zoo_static"),
                                            ::testing::Values("nanosleep", "read", "poll", "mutex",
                                                              "condition", "semaphore", "qsort",
                                                              "signal", "altstack", "vfork",
                                                              "spawn", "recursion", "dlopen")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) + "_" +
                                  std::get<1>(tested.param);
                         });

}  // namespace
}  // namespace offcpud
