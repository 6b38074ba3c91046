// SPDX-License-Identifier: Apache-2.0
#include "sampler/late_tables.h"

namespace offcpud {

void LateTables::mapped_without(std::uint32_t tgid, std::uint64_t object) {
  processes_[object].insert(tgid);
  ++objects_[tgid][object];
}

void LateTables::unmapped(std::uint32_t tgid, std::uint64_t object) {
  const auto process = objects_.find(tgid);
  if (process == objects_.end()) return;
  const auto mappings = process->second.find(object);
  if (mappings == process->second.end() || --mappings->second > 0) return;
  process->second.erase(mappings);
  if (process->second.empty()) objects_.erase(process);
  forget(tgid, object);
}

void LateTables::forget(std::uint32_t tgid, std::uint64_t object) {
  const auto mapped_by = processes_.find(object);
  mapped_by->second.erase(tgid);
  if (mapped_by->second.empty()) processes_.erase(mapped_by);
}

void LateTables::ended(std::uint32_t tgid) {
  const auto process = objects_.find(tgid);
  if (process == objects_.end()) return;
  for (const auto& [object, mappings] : process->second) forget(tgid, object);
  objects_.erase(process);
}

void LateTables::forget(std::uint64_t object) {
  waiting_.erase(object);
  const auto mapped_by = processes_.find(object);
  if (mapped_by == processes_.end()) return;
  for (const std::uint32_t tgid : mapped_by->second) {
    const auto process = objects_.find(tgid);
    process->second.erase(object);
    if (process->second.empty()) objects_.erase(process);
  }
  processes_.erase(mapped_by);
}

void LateTables::made(std::uint64_t object) {
  for (const std::uint32_t tgid : processes_of(object)) to_tell_.push_back({tgid, object});
  forget(object);
}

std::optional<LateTables::Told> LateTables::next_to_tell() {
  if (to_tell_.empty()) return std::nullopt;
  const Told next = to_tell_.front();
  to_tell_.pop_front();
  return next;
}

std::size_t LateTables::pairs() const {
  std::size_t pairs = 0;
  for (const auto& [tgid, objects] : objects_) pairs += objects.size();
  return pairs;
}

const std::unordered_set<std::uint32_t>& LateTables::processes_of(std::uint64_t object) const {
  static const std::unordered_set<std::uint32_t> kNone;
  const auto mapped_by = processes_.find(object);
  return mapped_by == processes_.end() ? kNone : mapped_by->second;
}

}  // namespace offcpud
