// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "stacks/sampled_block.h"

namespace offcpud::test {

// A sampled block, written as a sentence: BlockRecord(ms(3)).of(7).named("x").in_kernel({1, 2}).
// Without more it is a whole block of a user thread, walked to its root, that nobody woke.
class BlockRecord {
 public:
  using Frames = std::vector<__u64>;

  explicit BlockRecord(std::uint64_t ns) {
    sample.ns = sample.weight_ns = sample.whole_ns = ns;
    sample.since_ns = 1'000'000'000;
    sample.ended_ns = sample.since_ns + ns;
    sample.cgroup_id = 1;
    sample.kind = OFFCPUD_BLOCKED_POLL;
    sample.waker = OFFCPUD_WAKERS;
    sample.user_end = OFFCPUD_UNWIND_END_ROOT;
    of(100).named("thread");
    write(sample.process_comm, "process");
  }

  BlockRecord& of(std::uint32_t pid) {
    sample.tid = sample.tgid = sample.local_tid = sample.local_tgid = pid;
    sample.process_start_ns = pid;
    return *this;
  }
  BlockRecord& named(std::string_view comm) {
    write(sample.comm, comm);
    return *this;
  }
  BlockRecord& of_process_named(std::string_view comm) {
    write(sample.process_comm, comm);
    return *this;
  }
  BlockRecord& standing_for(std::uint64_t weight_ns) {
    sample.weight_ns = sample.whole_ns = weight_ns;
    return *this;
  }
  BlockRecord& in_cgroup(std::uint64_t id) {
    sample.cgroup_id = id;
    return *this;
  }
  BlockRecord& flagged(std::uint32_t flags) {
    sample.flags |= flags;
    return *this;
  }
  BlockRecord& ended_by(offcpud_unwind_end end) {
    sample.user_end = end;
    return *this;
  }
  BlockRecord& woken_by(offcpud_waker waker, std::uint32_t tgid, std::string_view comm) {
    sample.waker = waker;
    sample.waker_tid = sample.waker_tgid = sample.waker_local_tgid = tgid;
    write(sample.waker_comm, comm);
    return *this;
  }
  BlockRecord& in_kernel(Frames frames) {
    kernel = std::move(frames);
    return *this;
  }
  BlockRecord& in_user(Frames frames) {
    user = std::move(frames);
    return *this;
  }
  BlockRecord& woken_in(Frames in_kernel, Frames in_user = {}) {
    waker_kernel = std::move(in_kernel);
    waker_user = std::move(in_user);
    return *this;
  }

  // Valid while the record is.
  [[nodiscard]] SampledBlock block() const {
    return {.sample = sample,
            .kernel = kernel,
            .user = user,
            .waker_kernel = waker_kernel,
            .waker_user = waker_user};
  }

  offcpud_sample sample{};
  Frames kernel, user, waker_kernel, waker_user;

 private:
  static void write(char (&comm)[OFFCPUD_COMM], std::string_view text) {
    std::fill(std::begin(comm), std::end(comm), '\0');
    text.copy(comm, sizeof(comm) - 1);
  }
};

}  // namespace offcpud::test
