// SPDX-License-Identifier: Apache-2.0
#include "stacks/past_blocks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace offcpud {
namespace {

// As ender_of() has it.
std::uint32_t ender_in(const offcpud_past_block& record) {
  const std::uint32_t tid = record.who & OFFCPUD_PAST_TID;
  return tid == 0 ? 0 : tid | (record.who & OFFCPUD_PAST_INTERRUPT);
}

constexpr std::size_t kOfThread = OFFCPUD_PAST_BLOCKS + 1;

PastBlock past_block(const offcpud_past& of, const offcpud_past_block& record) {
  const std::uint64_t length_ns = std::uint64_t{record.length} << OFFCPUD_PAST_UNIT;
  return {.tid = of.tid,
          .tgid = of.tgid,
          .since_ns = record.ended_ns - std::min<std::uint64_t>(record.ended_ns, length_ns),
          .ended_ns = record.ended_ns,
          .skipped_ns = std::uint64_t{record.skipped} << OFFCPUD_PAST_UNIT,
          .kind = record.who >> OFFCPUD_PAST_KIND,
          .ender = ender_in(record)};
}

}  // namespace

std::uint32_t ender_of(const offcpud_sample& sample, const offcpud_peer& peer) {
  if (peer.tid == 0) return sample.waker_tid;  // a kernel thread's, which is nobody's peer
  return peer.tid | ((peer.flags & OFFCPUD_PEER_ENDED) != 0 ? 0U : OFFCPUD_PAST_INTERRUPT);
}

std::shared_ptr<const PastBlocks> past_blocks_of(const WaitPeer& peer,
                                                 std::span<const offcpud_past> past,
                                                 std::uint64_t since_ns) {
  const bool is_peers = peer.kind == WaitPeer::Kind::Process && peer.tid != 0 && !past.empty() &&
                        past[0].tid == peer.tid && past[0].tgid == peer.process.tgid;
  if (!is_peers) return nullptr;
  std::array<PastBlock, kOfThread * OFFCPUD_PAST_HOPS> all{};
  std::size_t count = 0;
  for (const offcpud_past& of : past.first(std::min<std::size_t>(past.size(), OFFCPUD_PAST_HOPS))) {
    if (of.tid == 0) continue;
    for (const offcpud_past_block& record : of.blocks) {
      if (record.ended_ns != 0) all.at(count++) = past_block(of, record);
    }
  }
  const auto told = std::span(all).first(count);
  std::ranges::sort(told, {},
                    [](const PastBlock& block) { return std::pair(block.tid, block.ended_ns); });
  // One that ended before the wait is needed only if it is the thread's last such one.
  const auto is_old = [&](const PastBlock& block) {
    const PastBlock* const next = &block + 1;
    return block.ended_ns <= since_ns && next != told.data() + told.size() &&
           next->tid == block.tid && next->ended_ns <= since_ns;
  };
  auto blocks = std::make_shared<PastBlocks>();
  blocks->reserve(count);
  std::ranges::copy_if(told, std::back_inserter(*blocks),
                       [&](const PastBlock& block) { return !is_old(block); });
  if (blocks->empty()) return nullptr;
  blocks->shrink_to_fit();
  return blocks;
}

std::span<const PastBlock> past_of_thread(const PastBlocks& past, std::uint32_t tid,
                                          std::uint32_t tgid) {
  const auto first = std::ranges::lower_bound(past, tid, {}, &PastBlock::tid);
  const auto last = std::ranges::upper_bound(past, tid, {}, &PastBlock::tid);
  if (first == last || first->tgid != tgid) return {};
  return {first, last};
}

}  // namespace offcpud
