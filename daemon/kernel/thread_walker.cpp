// SPDX-License-Identifier: Apache-2.0
#include "kernel/thread_walker.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <span>

#include "kernel/bpf_iterator.h"

namespace offcpud {
namespace {

constexpr std::size_t kReadBytes = std::size_t{32} << 10;  // the kernel's own buffer (bpf_iter.c)

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Result<std::shared_ptr<const ThreadWalk>> ThreadWalker::advance(std::chrono::nanoseconds budget) {
  const std::chrono::nanoseconds begin = cpu_time();
  if (!walk_) {
    records_.clear();
    passes_ = 0;
    TRY(walk_, session_.open_walk());
  }
  ++passes_;
  do {
    auto more = read_some();
    if (!more) {
      walk_.reset();
      return std::move(more).error();
    }
    if (!*more) return take();
  } while (cpu_time() - begin < budget);
  return std::shared_ptr<const ThreadWalk>();
}

// Returns false at the end of the walk.
Result<bool> ThreadWalker::read_some() {
  const std::size_t before = records_.size();
  records_.resize(before + kReadBytes);
  const auto got = read_iteration(walk_, std::span(records_).subspan(before), "walk the threads");
  records_.resize(before + (got ? *got : 0));
  if (!got) return got.error();
  return *got != 0;
}

std::shared_ptr<const ThreadWalk> ThreadWalker::take() {
  walk_.reset();
  auto walk = std::make_shared<ThreadWalk>();
  walk->passes = passes_;
  walk->threads.resize(records_.size() / sizeof(offcpud_thread));
  std::memcpy(walk->threads.data(), records_.data(), walk->threads.size() * sizeof(offcpud_thread));
  // The kernel walks in the order of the daemon's PID namespace, mostly that of the initial one,
  // too.
  const auto by_tid = [](const offcpud_thread& a, const offcpud_thread& b) {
    return a.tid < b.tid;
  };
  if (!std::is_sorted(walk->threads.begin(), walk->threads.end(), by_tid)) {
    std::sort(walk->threads.begin(), walk->threads.end(), by_tid);
  }
  return walk;
}

}  // namespace offcpud
