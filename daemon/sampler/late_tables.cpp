// SPDX-License-Identifier: Apache-2.0
#include "sampler/late_tables.h"

#include <algorithm>

namespace offcpud {

void LateTables::mapped_without(std::uint32_t tgid, std::uint64_t object, std::uint64_t begin,
                                const ShareOwner& user) {
  processes_[object].insert(tgid);
  const auto process = objects_.try_emplace(tgid, Process{.user = user, .mappings = {}}).first;
  auto& begins = process->second.mappings[object];
  const auto place = std::ranges::lower_bound(begins, begin);
  if (place == begins.end() || *place != begin) begins.insert(place, begin);
}

void LateTables::unmapped(std::uint32_t tgid, std::uint64_t object, std::uint64_t begin) {
  const auto process = objects_.find(tgid);
  if (process == objects_.end()) return;
  auto& of_process = process->second.mappings;
  const auto mappings = of_process.find(object);
  if (mappings == of_process.end()) return;
  auto& begins = mappings->second;
  const auto place = std::ranges::lower_bound(begins, begin);
  if (place != begins.end() && *place == begin) begins.erase(place);
  if (!begins.empty()) return;
  of_process.erase(mappings);
  if (of_process.empty()) objects_.erase(process);
  forget(tgid, object);
}

void LateTables::forget(std::uint32_t tgid, std::uint64_t object) {
  const auto mapped_by = processes_.find(object);
  mapped_by->second.erase(tgid);
  if (mapped_by->second.empty()) processes_.erase(mapped_by);
}

void LateTables::ended(std::uint32_t tgid) {
  to_tell_.erase(tgid);
  told_below_.erase(tgid);
  const auto process = objects_.find(tgid);
  if (process == objects_.end()) return;
  for (const auto& [object, mappings] : process->second.mappings) forget(tgid, object);
  objects_.erase(process);
}

void LateTables::forget(std::uint64_t object) {
  waiting_.erase(object);
  const auto mapped_by = processes_.find(object);
  if (mapped_by == processes_.end()) return;
  for (const std::uint32_t tgid : mapped_by->second) {
    const auto process = objects_.find(tgid);
    process->second.mappings.erase(object);
    if (process->second.mappings.empty()) objects_.erase(process);
  }
  processes_.erase(mapped_by);
}

void LateTables::made(std::uint64_t object) {
  for (const std::uint32_t tgid : processes_of(object)) {
    to_tell_.push(tgid, objects_.at(tgid).user);
    told_below_.erase(tgid);
  }
  forget(object);
}

std::optional<LateTables::Telling> LateTables::next_to_tell(const ObjectTurns::May& may) {
  const auto turn = to_tell_.pop(may);
  if (!turn) return std::nullopt;
  Telling telling{.tgid = static_cast<std::uint32_t>(turn->object), .user = turn->user};
  if (const auto below = told_below_.extract(telling.tgid)) telling.from = below.mapped();
  return telling;
}

void LateTables::tell_rest(const Telling& telling) {
  if (to_tell_.push(telling.tgid, telling.user)) told_below_[telling.tgid] = telling.from;
}

std::size_t LateTables::pairs() const {
  std::size_t pairs = 0;
  for (const auto& [tgid, process] : objects_) pairs += process.mappings.size();
  return pairs;
}

const std::unordered_set<std::uint32_t>& LateTables::processes_of(std::uint64_t object) const {
  static const std::unordered_set<std::uint32_t> kNone;
  const auto mapped_by = processes_.find(object);
  return mapped_by == processes_.end() ? kNone : mapped_by->second;
}

}  // namespace offcpud
