// SPDX-License-Identifier: Apache-2.0
#include "sites/evidence_table.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace offcpud {

EvidenceTable::EvidenceTable(std::size_t most)
    : most_(std::max<std::size_t>(most, 1)), buckets_(std::bit_ceil(most_), kNone) {}

std::size_t EvidenceTable::bucket_of(const EvidenceKey& key) const {
  // The finalizer of MurmurHash3: each bit of the key changes half of the bits.
  std::uint64_t hash = key.what ^ (std::uint64_t{key.tgid} << 32 | key.tid);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return (hash ^ (hash >> 33)) & (buckets_.size() - 1);
}

EvidenceTable::Index EvidenceTable::index_of(const EvidenceKey& key) const {
  Index index = buckets_[bucket_of(key)];
  while (index != kNone && slots_[index].key != key) index = slots_[index].chained;
  return index;
}

const Evidence* EvidenceTable::find(const EvidenceKey& key) const {
  const Index index = index_of(key);
  return index == kNone ? nullptr : &slots_[index].evidence;
}

Evidence* EvidenceTable::find(const EvidenceKey& key) {
  const Index index = index_of(key);
  return index == kNone ? nullptr : &slots_[index].evidence;
}

Evidence* EvidenceTable::touch(const EvidenceKey& key, const EvidenceProcess& process,
                               MonotonicTime now) {
  Process& owning = process_of(key, process);
  Index index = index_of(key);
  const bool is_new = index == kNone;
  if (is_new) {
    if (!make_room(key.tgid, owning, now)) {
      ++dropped_;
      return nullptr;
    }
    index = take_slot();
    slots_[index].key = key;
    hold(key.tgid, owning, owning.held + 1);
    Index& bucket = buckets_[bucket_of(key)];
    slots_[index].chained = bucket;
    bucket = index;
  } else {
    unlink(owning, index);
  }
  link_newest(owning, index);
  Evidence& evidence = slots_[index].evidence;
  if (is_new) {
    evidence = {};
    evidence.process_start_ns = process.start_ns;
    evidence.began = evidence.decayed = now;
  }
  evidence.seen = now;
  return &evidence;
}

void EvidenceTable::forget_before(MonotonicTime then) {
  for (auto process = processes_.begin(); process != processes_.end();) {
    Process& of = process->second;
    while (of.oldest != kNone && slots_[of.oldest].evidence.seen < then) {
      forget_oldest(process->first, of);
    }
    process = of.held == 0 ? processes_.erase(process) : std::next(process);
  }
}

EvidenceTable::Process& EvidenceTable::process_of(const EvidenceKey& key,
                                                  const EvidenceProcess& process) {
  Process& known = processes_[key.tgid];
  if (known.start_ns != process.start_ns) {
    while (known.oldest != kNone) forget_oldest(key.tgid, known);
    known.start_ns = process.start_ns;
  }
  if (known.held == 0) known.owner = process.owner;
  return known;
}

void EvidenceTable::hold(std::uint32_t tgid, Process& process, std::size_t held) {
  ranks_.change(process.owner, tgid, process.held, held);
  process.held = held;
}

// Whoever would hold most with one more gives way. A process that goes on making threads replaces
// its own, but not those of the same window, each of which would go before it is of use.
bool EvidenceTable::make_room(std::uint32_t tgid, Process& wants, MonotonicTime now) {
  if (size() < most_) return true;
  const std::uint32_t gives = ranks_.who_gives_way(wants.owner, wants.held).value_or(tgid);
  Process& process = processes_[gives];
  if (gives == tgid && (wants.held == 0 || slots_[wants.oldest].evidence.seen >= now)) return false;
  ++dropped_;
  forget_oldest(gives, process);
  return true;
}

EvidenceTable::Index EvidenceTable::take_slot() {
  if (free_ == kNone) {
    slots_.emplace_back();
    return static_cast<Index>(slots_.size() - 1);
  }
  const Index index = free_;
  free_ = slots_[index].chained;
  --free_count_;
  return index;
}

void EvidenceTable::forget_oldest(std::uint32_t tgid, Process& process) {
  const Index index = process.oldest;
  unchain(index);
  unlink(process, index);
  hold(tgid, process, process.held - 1);
  slots_[index].chained = free_;
  free_ = index;
  ++free_count_;
}

void EvidenceTable::unchain(Index index) {
  Index* link = &buckets_[bucket_of(slots_[index].key)];
  while (*link != index) link = &slots_[*link].chained;
  *link = slots_[index].chained;
}

void EvidenceTable::unlink(Process& process, Index index) {
  const Slot& slot = slots_[index];
  (slot.older == kNone ? process.oldest : slots_[slot.older].newer) = slot.newer;
  (slot.newer == kNone ? process.newest : slots_[slot.newer].older) = slot.older;
}

void EvidenceTable::link_newest(Process& process, Index index) {
  Slot& slot = slots_[index];
  slot.older = process.newest;
  slot.newer = kNone;
  (process.newest == kNone ? process.oldest : slots_[process.newest].newer) = index;
  process.newest = index;
}

}  // namespace offcpud
