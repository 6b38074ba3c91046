// SPDX-License-Identifier: Apache-2.0
#include "stacks/past_blocks.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

PastBlock past_block(const offcpud_past& of, const offcpud_past_block& record) {
  const std::uint64_t length_ns = std::uint64_t{record.length} << OFFCPUD_PAST_UNIT;
  return {.tid = of.tid,
          .tgid = of.tgid,
          .since_ns = record.ended_ns - std::min<std::uint64_t>(record.ended_ns, length_ns),
          .ended_ns = record.ended_ns,
          .kind = record.who >> OFFCPUD_PAST_KIND,
          .ender_tid = record.who & OFFCPUD_PAST_TID};
}

}  // namespace

std::shared_ptr<const PastBlocks> past_blocks_of(const WaitPeer& peer,
                                                 std::span<const offcpud_past> past) {
  const bool is_peers = peer.kind == WaitPeer::Kind::Process && peer.tid != 0 && !past.empty() &&
                        past[0].tid == peer.tid && past[0].tgid == peer.process.tgid;
  if (!is_peers) return nullptr;
  auto blocks = std::make_shared<PastBlocks>();
  for (const offcpud_past& of : past) {
    if (of.tid == 0) continue;
    for (const offcpud_past_block& record : of.blocks) {
      if (record.ended_ns != 0) blocks->push_back(past_block(of, record));
    }
  }
  if (blocks->empty()) return nullptr;
  std::ranges::sort(*blocks, {},
                    [](const PastBlock& block) { return std::pair(block.tid, block.ended_ns); });
  return blocks;
}

std::span<const PastBlock> past_of_thread(const PastBlocks& past, std::uint32_t tid,
                                          std::uint32_t tgid) {
  const auto [first, last] = std::ranges::equal_range(past, tid, {}, &PastBlock::tid);
  if (first == last || first->tgid != tgid) return {};
  return {first, last};
}

}  // namespace offcpud
