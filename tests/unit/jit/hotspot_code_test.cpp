// SPDX-License-Identifier: Apache-2.0
#include "jit/hotspot_code.h"

#include <gtest/gtest.h>

#include <random>

#include "jit/jit_codes.h"
#include "unit/jit/fake_hotspot.h"

namespace offcpud {
namespace {

using testing_jit::FakeHotspot;

constexpr std::uint32_t kProcess = 17;

std::optional<JitCode> code_of(FakeHotspot& process) {
  const MemoryWords memory(process, kProcess);
  const auto layout = read_hotspot_layout(memory, FakeHotspot::kBase);
  if (!layout) return std::nullopt;
  return HotspotCode(*layout).read(memory);
}

TEST(HotspotCode, MethodsHaveNamesAndSizesOfFrames) {
  FakeHotspot process;
  const auto open = process.add({.offset = 0x400, .frame_words = 6});
  const auto park = process.add({.offset = 0x800,
                                 .size = 512,
                                 .kind = "native nmethod",
                                 .frame_words = 10,
                                 .class_name = "jdk/internal/misc/Unsafe",
                                 .method = "park"});
  const auto code = code_of(process);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->functions.size(), 2);
  EXPECT_EQ(code->functions[0], (JitFunction{.begin = open,
                                             .end = FakeHotspot::kHeap + 0x500,
                                             .frame_size = 48,
                                             .name = "shop.Till.open"}));
  const JitFunction* const found = code->find(park + 5);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "jdk.internal.misc.Unsafe.park");
  EXPECT_EQ(found->frame_size, 80);
  EXPECT_EQ(code->find(open - 1), nullptr);
  EXPECT_EQ(code->find(found->end), nullptr);
  EXPECT_TRUE(code->is_within(FakeHotspot::kHeap));
  EXPECT_FALSE(code->is_within(FakeHotspot::kHeap + FakeHotspot::kHeapSize));
}

TEST(HotspotCode, TheLibraryNeedNotBeLinkedAtZero) {
  FakeHotspot process(0x400000);
  process.add({.offset = 0x400});
  const auto code = code_of(process);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->functions.size(), 1);
  EXPECT_EQ(code->functions[0].name, "shop.Till.open");
}

TEST(HotspotCode, TheInterpreterAndStubsHaveNeitherNameNorFrame) {
  FakeHotspot process;
  const auto interpreter = process.add({.offset = 0, .size = 0x2000, .kind = "Interpreter"});
  const auto code = code_of(process);
  ASSERT_TRUE(code);
  const JitFunction* const found = code->find(interpreter);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "");
  EXPECT_EQ(found->frame_size, 0);
}

TEST(HotspotCode, AddressesInNamesOfHiddenClassesAreLeftOut) {
  EXPECT_EQ(java_method_name("Shop$$Lambda$7+0x00007f3cf0001ac8", "run"), "Shop$$Lambda$7.run");
  EXPECT_EQ(java_method_name("a/Shop$$Lambda/0x00007f3cf0001ac8", "run"), "a.Shop$$Lambda.run");
  EXPECT_EQ(java_method_name("a/b\nc", "<init>").find('\n'), std::string::npos);
}

TEST(HotspotCode, ALibraryThatLacksAFieldIsNotRead) {
  FakeHotspot process;
  process.remove_field("CodeBlob", "_frame_size");
  EXPECT_FALSE(code_of(process));
}

TEST(HotspotCode, WhatIsNoLibraryIsNotRead) {
  FakeHotspot process;
  const MemoryWords memory(process, kProcess);
  EXPECT_FALSE(read_hotspot_layout(memory, FakeHotspot::kBase + 0x1000));
  EXPECT_FALSE(read_hotspot_layout(memory, FakeHotspot::kHeap));
}

// Whatever a process writes over its own tables, reading them ends, and what is found fits
// together.
TEST(HotspotCode, HostileTablesEnd) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    FakeHotspot process;
    process.add({.offset = 0x400});
    process.add({.offset = 0x600});
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t word = random() % 3 == 0 ? random() : random() % 0x20000000;
      process.set(FakeHotspot::kBase + random() % 0x7f0, word);
      process.set(FakeHotspot::kHeap + 0x400 + random() % 0x300, word);
    }
    const auto code = code_of(process);
    if (!code) continue;
    std::uint64_t end = 0;
    for (const JitFunction& function : code->functions) {
      EXPECT_LE(end, function.begin);
      EXPECT_LT(function.begin, function.end);
      end = function.end;
    }
  }
}

class FakeClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override { return {}; }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  MonotonicTime now_{std::chrono::hours(1)};
};

class JitCodesTest : public testing::Test {
 protected:
  void see(std::uint64_t address) {
    codes_.seen({kProcess, 5}, FakeHotspot::kBase, {&address, 1});
    codes_.refresh();
  }
  [[nodiscard]] std::string name_of(std::uint64_t address) const {
    const auto code = board_->find({kProcess, 5});
    const JitFunction* const found = code ? code->find(address) : nullptr;
    return found == nullptr ? "" : found->name;
  }

  FakeHotspot process_;
  FakeClock clock_;
  std::shared_ptr<JitCodeBoard> board_ = std::make_shared<JitCodeBoard>();
  int changes_ = 0;
  JitCodes codes_{process_, clock_, board_, [this](std::uint32_t, const JitCode&) { ++changes_; }};
};

TEST_F(JitCodesTest, CodeThatIsNewIsReadSoonAndNotAtOnce) {
  const auto open = process_.add({.offset = 0x400});
  see(open);
  EXPECT_EQ(name_of(open), "shop.Till.open");
  EXPECT_EQ(changes_, 1);

  const auto close = process_.add({.offset = 0x800, .method = "close"});
  see(close);
  EXPECT_EQ(name_of(close), "");
  clock_.pass(JitCodes::kSoonest);
  see(close);
  EXPECT_EQ(name_of(close), "shop.Till.close");
  EXPECT_EQ(changes_, 2);
}

TEST_F(JitCodesTest, WhatIsKnownIsReadAgainNowAndThenAndToldOnlyIfItChanged) {
  const auto open = process_.add({.offset = 0x400});
  see(open);
  const auto reads = process_.reads;
  clock_.pass(JitCodes::kSoonest);
  see(open);
  EXPECT_EQ(process_.reads, reads);
  clock_.pass(JitCodes::kInterval);
  see(open);
  EXPECT_GT(process_.reads, reads);
  EXPECT_EQ(changes_, 1);
}

TEST_F(JitCodesTest, AMethodThatAnotherOneReplacedHasItsName) {
  const auto open = process_.add({.offset = 0x400});
  see(open);
  process_.add({.offset = 0x400, .class_name = "shop/Cart", .method = "fill"});
  clock_.pass(JitCodes::kInterval);
  see(open);
  EXPECT_EQ(name_of(open), "shop.Cart.fill");
}

TEST_F(JitCodesTest, AProcessWithoutSamplesIsForgotten) {
  const auto open = process_.add({.offset = 0x400});
  see(open);
  clock_.pass(JitCodes::kKept + std::chrono::seconds(1));
  codes_.refresh();
  EXPECT_EQ(name_of(open), "");
}

TEST_F(JitCodesTest, TheOldestProcessMakesRoom) {
  const auto open = process_.add({.offset = 0x400});
  JitCodes tight{process_, clock_, board_, [](std::uint32_t, const JitCode&) {}, 200};
  const auto see = [&](std::uint32_t tgid) {
    clock_.pass(std::chrono::milliseconds(1));
    tight.seen({tgid, 5}, FakeHotspot::kBase, {&open, 1});
    tight.refresh();
  };
  const auto is_known = [&](std::uint32_t tgid) { return board_->find({tgid, 5}) != nullptr; };
  see(1);
  EXPECT_TRUE(is_known(1));
  see(2);
  EXPECT_FALSE(is_known(1));
  EXPECT_TRUE(is_known(2));
  see(1);
  EXPECT_FALSE(is_known(1)) << "two that do not fit together take turns at once";
  clock_.pass(JitCodes::kLatest);
  see(1);
  EXPECT_TRUE(is_known(1));
  EXPECT_FALSE(is_known(2));
}

TEST_F(JitCodesTest, CodeWithoutRoomBesideNobodyIsKept) {
  const auto open = process_.add({.offset = 0x400});
  JitCodes tight{process_, clock_, board_, [](std::uint32_t, const JitCode&) {}, 1};
  tight.seen({1, 5}, FakeHotspot::kBase, {&open, 1});
  tight.refresh();
  EXPECT_NE(board_->find({1, 5}), nullptr);
}

}  // namespace
}  // namespace offcpud
