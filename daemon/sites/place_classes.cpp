// SPDX-License-Identifier: Apache-2.0
#include "sites/place_classes.h"

#include <numeric>

namespace offcpud {

bool PlaceClasses::put(const ProcessPlace& at, const ShareOwner& owner, const Times& times,
                       MonotonicTime now) {
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  if (all <= 0) return true;
  const auto known = places_.find(at);
  const bool is_new = known == places_.end();
  const Room room = is_new ? make_room(at.tgid, owner, now) : Room::Free;
  if (room == Room::None) return false;
  const Slot slot = is_new ? slots_.take(at.tgid, owner, now) : known->second;
  if (is_new) {
    places_.emplace(at, slot);
    if (slot == said_.size()) said_.emplace_back();
  } else {
    slots_.touch(slot, now);
  }
  Said& said = said_[slot];
  said.at = at;
  for (std::size_t i = 0; i < times.size(); ++i) said.shares[i] = times[i] / all;
  return room == Room::Free;
}

const PlaceClasses::Times* PlaceClasses::find(const ProcessPlace& at, MonotonicTime now) const {
  const auto found = places_.find(at);
  if (found == places_.end() || now - slots_.touched(found->second) > kKept) return nullptr;
  return &said_[found->second].shares;
}

// What is old is forgotten once at a time, however many places find no room then.
PlaceClasses::Room PlaceClasses::make_room(std::uint32_t tgid, const ShareOwner& owner,
                                           MonotonicTime now) {
  if (slots_.is_full() && swept_ != now) {
    swept_ = now;
    for (const Slot slot : slots_.untouched_since(now - kKept)) forget(slot);
  }
  if (!slots_.is_full()) return Room::Free;
  const auto gone = slots_.who_gives_way(tgid, owner, now);
  if (!gone) return Room::None;
  forget(*gone);
  return Room::Taken;
}

void PlaceClasses::forget(Slot slot) {
  places_.erase(said_[slot].at);
  slots_.give_back(slot);
}

}  // namespace offcpud
