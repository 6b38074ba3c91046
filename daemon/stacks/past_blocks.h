// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud {

// An earlier block of a thread that ended another thread's wait. The thread itself remembers it
// (bpf/past.bpf.h), so unlike a sample it is known whatever the sampling interval. An entry without
// length is no block: it says until when the thread is known to have had no further block.
struct PastBlock {
  std::uint32_t tid = 0, tgid = 0;           // in the initial PID namespace
  std::uint64_t since_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC; `since_ns` up to 1 us late
  std::uint64_t skipped_ns = 0;  // in blocks too short to be kept, since the one before this one
  std::uint64_t queued_ns = 0;   // waited for a CPU since the one before this one; up to 1 us off
  std::uint32_t kind = 0;        // offcpud_hist_kind
  std::uint32_t ender = 0;       // see ender_of()
};

// Sorted by thread and end. From a thread's first block here on, none of its blocks is missing,
// except those that skipped_ns counts. Between its blocks, it ran or waited for a CPU.
using PastBlocks = std::vector<PastBlock>;

// The thread that was current when a sampled block ended, with OFFCPUD_PAST_INTERRUPT if an
// interrupt ended it. 0: nobody knows; or an interrupt ended it while the idle task or a kernel
// thread was current.
std::uint32_t ender_of(const offcpud_sample& sample, const offcpud_peer& peer);

// The earlier blocks, in a sample's record, of the threads for which its thread waited: of each
// thread those that ended after `since_ns`, and the last one before. Null: there are none, or the
// first thread is not the peer's.
std::shared_ptr<const PastBlocks> past_blocks_of(const WaitPeer& peer,
                                                 std::span<const offcpud_past> past,
                                                 std::uint64_t since_ns);

// The blocks of one thread.
std::span<const PastBlock> past_of_thread(const PastBlocks& past, std::uint32_t tid,
                                          std::uint32_t tgid);

}  // namespace offcpud
