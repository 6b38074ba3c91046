// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud {

// A block that a thread had behind it when it ended somebody's wait, by its own account: unlike a
// sample, it is there whatever its length.
struct PastBlock {
  std::uint32_t tid = 0, tgid = 0;           // in the initial PID namespace
  std::uint64_t since_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC; `since_ns` up to 1 us late
  std::uint64_t skipped_ns = 0;  // blocks too short to be told, between the one before and this one
  std::uint32_t kind = 0;        // offcpud_hist_kind
  std::uint32_t ender = 0;       // see ender_of()
};

// By thread, and each one's in the order of their ends. Those of a thread are all that it had from
// the first one on.
using PastBlocks = std::vector<PastBlock>;

// The thread that was current when a sampled block ended, with OFFCPUD_PAST_INTERRUPT if an
// interrupt ended it; 0: none, or a thread of the kernel.
std::uint32_t ender_of(const offcpud_peer& peer);

// What a record tells of those for whom its thread waited since `since_ns`, and, of each thread,
// one block before that. Null: nothing, or it is of another thread than the peer's.
std::shared_ptr<const PastBlocks> past_blocks_of(const WaitPeer& peer,
                                                 std::span<const offcpud_past> past,
                                                 std::uint64_t since_ns);

// Those of one thread.
std::span<const PastBlock> past_of_thread(const PastBlocks& past, std::uint32_t tid,
                                          std::uint32_t tgid);

}  // namespace offcpud
