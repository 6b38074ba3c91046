// SPDX-License-Identifier: Apache-2.0
#include "sites/evidence_table.h"

#include <algorithm>
#include <bit>

namespace offcpud {

EvidenceTable::EvidenceTable(std::size_t most)
    : buckets_(std::bit_ceil(std::max<std::size_t>(most, 1)), kNone),
      shares_(std::max<std::size_t>(most, 1)) {}

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
  forget_other_process(key.tgid, process.start_ns);
  Index index = index_of(key);
  if (index != kNone) {
    shares_.touch(index, now);
  } else if (make_room(key.tgid, process.owner, now)) {
    index = take_slot(key, process, now);
  } else {
    ++dropped_;
    return nullptr;
  }
  Evidence& evidence = slots_[index].evidence;
  evidence.seen = now;
  return &evidence;
}

void EvidenceTable::forget_before(MonotonicTime then) {
  for (const Index index : shares_.untouched_since(then)) forget(index);
}

// Of a process that had this number before. All that is kept of a number is of one process.
void EvidenceTable::forget_other_process(std::uint32_t tgid, std::uint64_t start_ns) {
  for (auto oldest = shares_.oldest_of(tgid); oldest; oldest = shares_.oldest_of(tgid)) {
    if (slots_[*oldest].evidence.process_start_ns == start_ns) return;
    forget(*oldest);
  }
}

bool EvidenceTable::make_room(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now) {
  if (!shares_.is_full()) return true;
  const auto gone = shares_.who_gives_way(tgid, owner, now);
  if (!gone) return false;
  ++dropped_;
  forget(*gone);
  return true;
}

EvidenceTable::Index EvidenceTable::take_slot(const EvidenceKey& key,
                                              const EvidenceProcess& process, MonotonicTime now) {
  const Index index = shares_.take(key.tgid, process.owner, now);
  if (index == slots_.size()) slots_.emplace_back();
  Slot& slot = slots_[index];
  slot.key = key;
  slot.evidence = {};
  slot.evidence.process_start_ns = process.start_ns;
  slot.evidence.began = slot.evidence.decayed = now;
  Index& bucket = buckets_[bucket_of(key)];
  slot.chained = bucket;
  bucket = index;
  return index;
}

void EvidenceTable::forget(Index index) {
  Index* link = &buckets_[bucket_of(slots_[index].key)];
  while (*link != index) link = &slots_[*link].chained;
  *link = slots_[index].chained;
  shares_.give_back(index);
}

}  // namespace offcpud
