// SPDX-License-Identifier: Apache-2.0
// For which page or block a thread waits, by what it has on its stack.
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "hooks.skel.h"
#include "hooks_case.h"
#include "hooks_object.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kSda = 8U << 20;  // as fake_wait() has it
constexpr std::uint32_t kLock = 2;        // include/linux/buffer_head.h, BH_Lock

// 0: the kernel has no such function, or hides it.
std::uint64_t address_of(const std::string& function) {
  std::ifstream symbols("/proc/kallsyms");
  std::string address, type, name, rest;
  while (symbols >> address >> type >> name && std::getline(symbols, rest)) {
    if (name == function) return std::stoull(address, nullptr, 16);
  }
  return 0;
}

class PageHooks : public HooksCase {
 protected:
  void SetUp() override {
    HooksCase::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    wakes_page_ = address_of("wake_page_function");
    wakes_block_ = address_of("wake_bit_function");
    if (wakes_page_ == 0 || wakes_block_ == 0) GTEST_SKIP() << "this host hides its functions";
    hooks()->bss->fake_waker = wakes_page_;
  }

  bool finds_file() {
    const Status status = HooksObject::run(hooks()->progs.run_page_search);
    EXPECT_TRUE(status) << status.error().message();
    return hooks()->bss->result == 1;
  }
  std::uint32_t found_device() {
    const Status status = HooksObject::run(hooks()->progs.run_block_search);
    EXPECT_TRUE(status) << status.error().message();
    return hooks()->bss->found_device;
  }

  std::uint64_t wakes_page_ = 0, wakes_block_ = 0;
};

TEST_F(PageHooks, ThePageOfAFileIsFound) {
  EXPECT_TRUE(finds_file());
  EXPECT_EQ(hooks()->bss->page_waker, wakes_page_) << "by its name";
  EXPECT_EQ(hooks()->bss->block_waker, 0U);
  EXPECT_TRUE(finds_file()) << "by its address";
}

TEST_F(PageHooks, AnotherFunctionWakesForSomethingElse) {
  hooks()->bss->fake_waker = address_of("autoremove_wake_function");
  ASSERT_NE(hooks()->bss->fake_waker, 0U);
  EXPECT_FALSE(finds_file());
  hooks()->bss->fake_waker = 0;
  EXPECT_FALSE(finds_file());
  hooks()->bss->fake_waker = wakes_block_;
  EXPECT_FALSE(finds_file());
}

// What an earlier wait has left on the stack.
TEST_F(PageHooks, AnEntryThatHasLeftItsQueueTellsNothing) {
  hooks()->bss->fake_woken = 1;
  EXPECT_FALSE(finds_file());
  hooks()->bss->fake_waker = wakes_block_;
  hooks()->bss->block_bit = kLock;
  EXPECT_EQ(found_device(), 0U);
  hooks()->bss->fake_woken = 0;
  EXPECT_EQ(found_device(), kSda);
}

TEST_F(PageHooks, APageOfNoFileTellsNothing) {
  hooks()->bss->page_flags = 1;  // anonymous: include/linux/page-flags.h
  EXPECT_FALSE(finds_file());
  hooks()->bss->page_flags = 0;
  EXPECT_TRUE(finds_file());
}

TEST_F(PageHooks, AFileWithAnotherMappingIsNotTheOneOfThePage) {
  hooks()->bss->other_mapping = 64;
  EXPECT_FALSE(finds_file());
}

TEST_F(PageHooks, TheDeviceOfABlockIsFound) {
  hooks()->bss->fake_waker = wakes_block_;
  hooks()->bss->block_bit = kLock;
  EXPECT_EQ(found_device(), kSda);
  EXPECT_EQ(hooks()->bss->block_waker, wakes_block_);
  hooks()->bss->block_bit = kLock + 1;
  EXPECT_EQ(found_device(), 0U) << "the bit of something else";
}

TEST_F(PageHooks, WhatIsNoBlockHasNoDisk) {
  hooks()->bss->fake_waker = wakes_block_;
  hooks()->bss->block_bit = kLock;
  hooks()->bss->other_disk = 64;
  EXPECT_EQ(found_device(), 0U);
}

}  // namespace
}  // namespace offcpud
