// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud {

// A block that a thread had behind it when it ended another thread's wait. The thread itself
// remembers it (bpf/past.bpf.h), so unlike a sample it is known whatever the sampling interval.
struct PastBlock {
  std::uint32_t tid = 0, tgid = 0;           // in the initial PID namespace
  std::uint64_t since_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC; `since_ns` up to 1 us late
  std::uint64_t skipped_ns = 0;  // blocks too short to be told, between the one before and this one
  std::uint32_t kind = 0;        // offcpud_hist_kind
  std::uint32_t ender = 0;       // see ender_of()
};

// Sorted by thread and end. From a thread's first block on no block of it is missing, but for those
// that skipped_ns counts.
using PastBlocks = std::vector<PastBlock>;

// The thread that was current when a sampled block ended, with OFFCPUD_PAST_INTERRUPT if an
// interrupt ended it. 0: the idle task was current, or a kernel thread and an interrupt ended it,
// or nobody knows.
std::uint32_t ender_of(const offcpud_sample& sample, const offcpud_peer& peer);

// The blocks that a sample's record has of those for whom its thread waited: of each of them the
// blocks that ended after `since_ns`, and one before. Null: it has none, or they begin with another
// thread than the peer's.
std::shared_ptr<const PastBlocks> past_blocks_of(const WaitPeer& peer,
                                                 std::span<const offcpud_past> past,
                                                 std::uint64_t since_ns);

// The blocks of one thread.
std::span<const PastBlock> past_of_thread(const PastBlocks& past, std::uint32_t tid,
                                          std::uint32_t tgid);

}  // namespace offcpud
