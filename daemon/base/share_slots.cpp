// SPDX-License-Identifier: Apache-2.0
#include "base/share_slots.h"

namespace offcpud {

std::optional<ShareSlots::Slot> ShareSlots::who_gives_way(std::uint32_t tgid,
                                                          const ShareOwner& owner,
                                                          MonotonicTime now) const {
  const auto own = processes_.find(tgid);
  const bool is_known = own != processes_.end();
  const auto other = is_known ? ranks_.who_gives_way(own->second.owner, own->second.held)
                              : ranks_.who_gives_way(owner, 0);
  if (other) return processes_.at(*other).oldest;
  if (!is_known || entries_[own->second.oldest].touched >= now) return std::nullopt;
  return own->second.oldest;
}

ShareSlots::Slot ShareSlots::take(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now) {
  Slot slot = free_;
  if (slot == kNone) {
    slot = static_cast<Slot>(entries_.size());
    entries_.emplace_back();
  } else {
    free_ = entries_[slot].newer;
    --free_count_;
  }
  Process& process = processes_.try_emplace(tgid, Process{.owner = owner}).first->second;
  entries_[slot].tgid = tgid;
  entries_[slot].touched = now;
  hold(tgid, process, process.held + 1);
  link_newest(process, slot);
  return slot;
}

void ShareSlots::touch(Slot slot, MonotonicTime now) {
  Process& process = processes_.at(entries_[slot].tgid);
  unlink(process, slot);
  link_newest(process, slot);
  entries_[slot].touched = now;
}

void ShareSlots::give_back(Slot slot) {
  const auto process = processes_.find(entries_[slot].tgid);
  unlink(process->second, slot);
  hold(process->first, process->second, process->second.held - 1);
  if (process->second.held == 0) processes_.erase(process);
  entries_[slot].newer = free_;
  free_ = slot;
  ++free_count_;
}

std::optional<ShareSlots::Slot> ShareSlots::oldest_of(std::uint32_t tgid) const {
  const auto process = processes_.find(tgid);
  return process == processes_.end() ? std::nullopt : std::optional(process->second.oldest);
}

std::vector<ShareSlots::Slot> ShareSlots::untouched_since(MonotonicTime then) const {
  std::vector<Slot> found;
  for (const auto& [tgid, process] : processes_) {
    for (Slot slot = process.oldest; slot != kNone && entries_[slot].touched < then;
         slot = entries_[slot].newer) {
      found.push_back(slot);
    }
  }
  return found;
}

void ShareSlots::hold(std::uint32_t tgid, Process& process, std::size_t held) {
  ranks_.change(process.owner, tgid, process.held, held);
  process.held = held;
}

void ShareSlots::unlink(Process& process, Slot slot) {
  const Entry& entry = entries_[slot];
  (entry.older == kNone ? process.oldest : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? process.newest : entries_[entry.newer].older) = entry.older;
}

void ShareSlots::link_newest(Process& process, Slot slot) {
  Entry& entry = entries_[slot];
  entry.older = process.newest;
  entry.newer = kNone;
  (process.newest == kNone ? process.oldest : entries_[process.newest].newer) = slot;
  process.newest = slot;
}

}  // namespace offcpud
