// SPDX-License-Identifier: Apache-2.0
#include "sites/place_classes.h"

#include <numeric>

namespace offcpud {

bool PlaceClasses::put(const ProcessPlace& at, const ShareOwner& owner, const Times& times,
                       MonotonicTime now) {
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  if (all <= 0) return true;
  const auto known = said_.find(at);
  const bool is_new = known == said_.end();
  const Room room = is_new ? make_room(at.tgid, owner, now) : Room::Free;
  if (room == Room::None) return false;
  Process& process = processes_.try_emplace(at.tgid, Process{.owner = owner}).first->second;
  const std::size_t held = process.places.size();
  if (is_new) {
    ranks_.change(process.owner, at.tgid, held, held + 1);
  } else {
    process.places.erase(known->second.age);
  }
  Said& said = said_[at];
  said.at = now;
  said.age = process.places.emplace(now, at);
  for (std::size_t i = 0; i < times.size(); ++i) said.shares[i] = times[i] / all;
  return room == Room::Free;
}

const PlaceClasses::Times* PlaceClasses::find(const ProcessPlace& at, MonotonicTime now) const {
  const auto found = said_.find(at);
  if (found == said_.end() || now - found->second.at > kKept) return nullptr;
  return &found->second.shares;
}

// As in EvidenceTable: a process replaces its own, but not what was said at this very time, each of
// which would go before it is of use.
PlaceClasses::Room PlaceClasses::make_room(std::uint32_t tgid, const ShareOwner& owner,
                                           MonotonicTime now) {
  if (said_.size() >= kMost) sweep(now);
  if (said_.size() < kMost) return Room::Free;
  const auto own = processes_.find(tgid);
  const bool is_known = own != processes_.end();
  const std::uint32_t gives = ranks_
                                  .who_gives_way(is_known ? own->second.owner : owner,
                                                 is_known ? own->second.places.size() : 0)
                                  .value_or(tgid);
  const auto process = processes_.find(gives);
  if (process == processes_.end()) return Room::None;
  if (gives == tgid && process->second.places.begin()->first >= now) return Room::None;
  forget_oldest(gives, process->second);
  if (process->second.places.empty()) processes_.erase(process);
  return Room::Taken;
}

// Once at a time, however many places find no room then.
void PlaceClasses::sweep(MonotonicTime now) {
  if (swept_ == now) return;
  swept_ = now;
  for (auto& [tgid, process] : processes_) {
    while (!process.places.empty() && now - process.places.begin()->first > kKept) {
      forget_oldest(tgid, process);
    }
  }
  std::erase_if(processes_, [](const auto& item) { return item.second.places.empty(); });
}

void PlaceClasses::forget_oldest(std::uint32_t tgid, Process& process) {
  const auto oldest = process.places.begin();
  ranks_.change(process.owner, tgid, process.places.size(), process.places.size() - 1);
  said_.erase(oldest->second);
  process.places.erase(oldest);
}

}  // namespace offcpud
