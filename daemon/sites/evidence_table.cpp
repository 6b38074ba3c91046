// SPDX-License-Identifier: Apache-2.0
#include "sites/evidence_table.h"

#include <algorithm>
#include <bit>

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

Evidence* EvidenceTable::touch(const EvidenceKey& key, std::uint64_t process_start_ns,
                               MonotonicTime now) {
  Index index = index_of(key);
  const bool is_new = index == kNone;
  if (is_new) {
    if (share_of(key) >= std::max<std::size_t>(most_ / 2, 1)) {
      ++dropped_;
      return nullptr;
    }
    index = take_slot();
    slots_[index].key = key;
    ++share_of(key);
    Index& bucket = buckets_[bucket_of(key)];
    slots_[index].chained = bucket;
    bucket = index;
  } else {
    unlink(index);
  }
  link_newest(index);
  Evidence& evidence = slots_[index].evidence;
  if (is_new || evidence.process_start_ns != process_start_ns) {
    evidence = {};
    evidence.process_start_ns = process_start_ns;
    evidence.began = evidence.decayed = now;
  }
  evidence.seen = now;
  return &evidence;
}

void EvidenceTable::forget_before(MonotonicTime then) {
  while (oldest_ != kNone && slots_[oldest_].evidence.seen < then) forget_oldest();
}

EvidenceTable::Index EvidenceTable::take_slot() {
  if (free_ == kNone && slots_.size() < most_) {
    slots_.emplace_back();
    return static_cast<Index>(slots_.size() - 1);
  }
  if (free_ == kNone) {
    ++dropped_;
    forget_oldest();
  }
  const Index index = free_;
  free_ = slots_[index].chained;
  --free_count_;
  return index;
}

void EvidenceTable::forget_oldest() {
  const Index index = oldest_;
  unchain(index);
  unlink(index);
  --share_of(slots_[index].key);
  slots_[index].chained = free_;
  free_ = index;
  ++free_count_;
}

void EvidenceTable::unchain(Index index) {
  Index* link = &buckets_[bucket_of(slots_[index].key)];
  while (*link != index) link = &slots_[*link].chained;
  *link = slots_[index].chained;
}

void EvidenceTable::unlink(Index index) {
  const Slot& slot = slots_[index];
  (slot.older == kNone ? oldest_ : slots_[slot.older].newer) = slot.newer;
  (slot.newer == kNone ? newest_ : slots_[slot.newer].older) = slot.older;
}

void EvidenceTable::link_newest(Index index) {
  Slot& slot = slots_[index];
  slot.older = newest_;
  slot.newer = kNone;
  (newest_ == kNone ? oldest_ : slots_[newest_].newer) = index;
  newest_ = index;
}

}  // namespace offcpud
