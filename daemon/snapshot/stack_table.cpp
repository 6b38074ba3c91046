// SPDX-License-Identifier: Apache-2.0
#include "snapshot/stack_table.h"

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

constexpr const char* kOther = "(other)";

void mix(std::size_t& hash, std::size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
}

void mix(std::size_t& hash, std::string_view text) {
  mix(hash, std::hash<std::string_view>()(text));
}

void mix(std::size_t& hash, const std::vector<std::uint32_t>& ids) {
  mix(hash, ids.size());
  for (const std::uint32_t id : ids) mix(hash, std::size_t{id});
}

}  // namespace

std::size_t StackTable::HashFrame::operator()(const StackFrame& frame) const {
  std::size_t hash = frame.kernel ? 1 : 0;
  mix(hash, frame.function);
  mix(hash, frame.object);
  mix(hash, std::size_t{frame.address});
  mix(hash, std::size_t{frame.line});
  return hash;
}

std::size_t StackTable::HashPlace::operator()(std::size_t place) const {
  const StackEntry& entry = table->entries_[place];
  std::size_t hash = entry.reason * 2 + (entry.in_progress ? 1 : 0);
  mix(hash, static_cast<std::size_t>(entry.wait_for));
  mix(hash, std::size_t{entry.pid});
  mix(hash, std::size_t{entry.waker_pid});
  for (const std::string* text :
       {&entry.comm, &entry.thread_comm, &entry.cgroup, &entry.site, &entry.waker_comm}) {
    mix(hash, *text);
  }
  for (const Ids* ids : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
    mix(hash, *ids);
  }
  return hash;
}

bool StackTable::SamePlace::operator()(std::size_t a, std::size_t b) const {
  const auto key = [this](std::size_t place) {
    const StackEntry& e = table->entries_[place];
    return std::tie(e.pid, e.reason, e.wait_for, e.in_progress, e.waker_pid, e.kernel, e.user,
                    e.comm, e.thread_comm, e.cgroup, e.site, e.waker_comm, e.waker_kernel,
                    e.waker_user);
  };
  return key(a) == key(b);
}

StackTable::StackTable(std::size_t most_entries)
    : most_entries_(most_entries), places_(16, HashPlace{this}, SamePlace{this}) {}

void StackTable::use_frames_of(const Snapshot& snapshot) {
  translation_.assign(snapshot.frames.size(), 0);
}

// False: a frame is unknown and may not be added.
bool StackTable::translate(const Snapshot& snapshot, Ids& ids, bool may_add) {
  for (std::uint32_t& id : ids) {
    std::uint32_t& known = translation_[id];
    if (known == 0) {
      const StackFrame& frame = snapshot.frames[id];
      auto found = frame_ids_.find(frame);
      if (found == frame_ids_.end()) {
        if (!may_add) return false;
        const auto next = static_cast<std::uint32_t>(frame_ids_.size());
        found = frame_ids_.emplace(frame, next).first;
      }
      known = found->second + 1;
    }
    id = known - 1;
  }
  return true;
}

std::size_t StackTable::place_of(const Snapshot& snapshot, const StackEntry& entry) {
  const bool has_room = entries_.size() < most_entries_;
  StackEntry ours = entry;
  ours.ns = 0;
  ours.episodes = 0;
  ours.variance = 0;
  bool known = true;
  for (Ids* ids : {&ours.user, &ours.kernel, &ours.waker_user, &ours.waker_kernel}) {
    known = known && translate(snapshot, *ids, has_room);
  }
  if (has_room) return insert(std::move(ours));
  if (known) {
    entries_.push_back(std::move(ours));
    const auto found = places_.find(entries_.size() - 1);
    entries_.pop_back();
    if (found != places_.end()) return *found;
  }
  return insert({.comm = kOther,
                 .thread_comm = kOther,
                 .cgroup = kOther,
                 .reason = entry.reason,
                 .wait_for = entry.wait_for});
}

// The set holds indexes of entries, so a candidate is at the end of the list during the look-up.
std::size_t StackTable::insert(StackEntry entry) {
  entries_.push_back(std::move(entry));
  const auto [place, is_new] = places_.insert(entries_.size() - 1);
  if (!is_new) entries_.pop_back();
  return *place;
}

void StackTable::move_to(Snapshot& snapshot) {
  snapshot.frames.resize(frame_ids_.size());
  for (const auto& [frame, id] : frame_ids_) snapshot.frames[id] = frame;
  places_.clear();
  frame_ids_.clear();
  snapshot.entries = std::exchange(entries_, {});
}

}  // namespace offcpud
