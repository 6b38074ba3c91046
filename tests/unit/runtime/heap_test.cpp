// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace offcpud {
namespace {

// RssAnon of /proc/self/status in KiB.
long resident_kib() {
  std::ifstream file("/proc/self/status");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return std::stol(text.substr(text.find("RssAnon:") + 8));
}

using Blocks = std::vector<std::unique_ptr<std::string>>;

// A busy minute of a thread, of which a block in a thousand stays.
void be_busy(Blocks& stays) {
  Blocks goes;
  std::vector<std::uint64_t> grown;
  for (int i = 0; i < 40'000; ++i) {
    (i % 1000 == 0 ? stays : goes).push_back(std::make_unique<std::string>(200, 'x'));
    grown.insert(grown.end(), 20, 7);
  }
}

TEST(Heap, GivesBackWhatABusyMinuteNeeded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers have a heap of their own";
#endif
  keep_heap_small();
  const long before = resident_kib();
  std::vector<Blocks> stays(8);
  std::vector<std::thread> threads;
  threads.reserve(stays.size());
  for (Blocks& of_thread : stays) threads.emplace_back([&of_thread] { be_busy(of_thread); });
  for (std::thread& thread : threads) thread.join();
  give_heap_back();
  EXPECT_LT(resident_kib() - before, 6 << 10);
}

}  // namespace
}  // namespace offcpud
