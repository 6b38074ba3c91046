// SPDX-License-Identifier: Apache-2.0
#include "base/call_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace offcpud {
namespace {

TEST(CallGate, PassesCallsUntilItIsDestroyed) {
  std::string said;
  std::optional<CallGate> gate(std::in_place);
  const auto say = gate->guard(
      std::function<void(const std::string&, int)>([&said](const std::string& text, int times) {
        for (int i = 0; i < times; ++i) said += text;
      }));
  say("a", 2);
  EXPECT_EQ(said, "aa");
  gate.reset();
  say("b", 2);
  EXPECT_EQ(said, "aa");
}

TEST(CallGate, OfNothingThereIsNothing) {
  EXPECT_FALSE(CallGate().guard(std::function<void()>()));
}

// What the callback uses is there until it returns.
TEST(CallGate, WaitsForTheCallThatPasses) {
  auto owned = std::make_unique<std::atomic<int>>(0);
  std::optional<CallGate> gate(std::in_place);
  std::promise<void> entered;
  const auto count = gate->guard(std::function<void()>([&entered, &owned] {
    entered.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++*owned;
  }));
  std::thread caller(count);
  entered.get_future().wait();
  gate.reset();
  EXPECT_EQ(*owned, 1);
  owned.reset();
  count();
  caller.join();
}

}  // namespace
}  // namespace offcpud
