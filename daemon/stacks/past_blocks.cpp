// SPDX-License-Identifier: Apache-2.0
#include "stacks/past_blocks.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace offcpud {
namespace {

// As ender_of() has it.
std::uint32_t ender_in(const offcpud_past_block& record) {
  const std::uint32_t tid = record.who & OFFCPUD_PAST_TID;
  return tid == 0 ? 0 : tid | (record.who & OFFCPUD_PAST_INTERRUPT);
}

constexpr std::size_t kOfThread = OFFCPUD_PAST_BLOCKS + 2;  // the last one has no length

std::uint64_t in_ns(std::uint32_t units) {
  return std::uint64_t{units} << OFFCPUD_PAST_UNIT;
}

// A block, and how long its thread had waited for a CPU when it began, in units, modulo 2^32.
struct Told {
  PastBlock block;
  std::uint32_t queued = 0;
};

Told told_of(const offcpud_past& of, const offcpud_past_block& record) {
  const std::uint64_t length_ns = in_ns(record.length);
  return {
      .block = {.tid = of.tid,
                .tgid = of.tgid,
                .since_ns = record.ended_ns - std::min<std::uint64_t>(record.ended_ns, length_ns),
                .ended_ns = record.ended_ns,
                .skipped_ns = in_ns(record.skipped),
                .kind = record.who >> OFFCPUD_PAST_KIND,
                .ender = ender_in(record)},
      .queued = record.queued};
}

Told end_of(const offcpud_past& of) {
  return {.block = {.tid = of.tid,
                    .tgid = of.tgid,
                    .since_ns = of.until_ns,
                    .ended_ns = of.until_ns,
                    .skipped_ns = in_ns(of.skipped)},
          .queued = of.queued};
}

// Sorts by thread and end, and sets queued_ns of all but the first block of each thread.
void sort(std::span<Told> all) {
  std::ranges::sort(all, {}, [](const Told& told) {
    return std::tuple(told.block.tid, told.block.ended_ns, told.block.since_ns);
  });
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].block.tid != all[i - 1].block.tid) continue;
    all[i].block.queued_ns = in_ns(all[i].queued - all[i - 1].queued);
  }
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
  std::array<Told, kOfThread * OFFCPUD_PAST_HOPS> all{};
  std::size_t count = 0;
  for (const offcpud_past& of : past.first(std::min<std::size_t>(past.size(), OFFCPUD_PAST_HOPS))) {
    if (of.tid == 0) continue;
    std::uint64_t last_ns = 0;
    for (const offcpud_past_block& record : of.blocks) {
      if (record.ended_ns != 0) all.at(count++) = told_of(of, record);
      last_ns = std::max<std::uint64_t>(last_ns, record.ended_ns);
    }
    if (last_ns != 0 && of.until_ns > last_ns) all.at(count++) = end_of(of);
  }
  const auto told = std::span(all).first(count);
  sort(told);
  // One that ended before the wait is needed only if it is the thread's last such one.
  const auto is_old = [&](const Told& each) {
    const Told* const next = &each + 1;
    return each.block.ended_ns <= since_ns && next != told.data() + told.size() &&
           next->block.tid == each.block.tid && next->block.ended_ns <= since_ns;
  };
  auto blocks = std::make_shared<PastBlocks>();
  blocks->reserve(count);
  for (const Told& each : told) {
    if (!is_old(each)) blocks->push_back(each.block);
  }
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
