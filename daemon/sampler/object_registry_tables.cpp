// SPDX-License-Identifier: Apache-2.0
// How ObjectRegistry makes unwind tables, at once or late.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "sampler/object_registry.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostProcessesAsked = 4;  // processes asked for one file in one round

using Outcome = OpenedFile::Outcome;

// Also after an error: without the table, stacks may end early as long as the object is mapped.
bool file_may_come_later(Outcome outcome) {
  return outcome == Outcome::Refused || outcome == Outcome::Slow || outcome == Outcome::Failed;
}

const Mapping* own_mapping_of(std::span<const Mapping> mappings, std::uint64_t object) {
  const auto found = std::ranges::find_if(mappings, [&](const Mapping& mapping) {
    const MappedFile& file = *mapping.file;
    return file.object && file.object->id == object && !file.borrowed;
  });
  return found == mappings.end() ? nullptr : &*found;
}

}  // namespace

bool ObjectRegistry::has_time(const ShareOwner& owner) const {
  return shares_.left(owner, std::chrono::steady_clock::now()) > std::chrono::nanoseconds(0);
}

// Nothing: it cannot be made now. A file that is no ELF file for this machine has no table; its
// mappings are added without one.
std::optional<UnwindObjectId> ObjectRegistry::make_table(Object& object, int fd,
                                                         const ShareOwner& owner) {
  if (!has_time(owner)) return std::nullopt;
  const std::uint64_t refused = tables_->refused();
  const auto others = tables_->between_cpu();
  const auto before = thread_cpu_time();
  std::optional<FileVersion> version;
  if (const auto original = opener_.original_of(fd)) version = original->version;
  const auto table = tables_->add_object(fd, owner, version);
  const auto cpu = thread_cpu_time() - before;
  tables_cpu_ += cpu;
  shares_.spend(owner, cpu - (tables_->between_cpu() - others), std::chrono::steady_clock::now());
  if (tables_->refused() != refused && reports_.refused) {
    ObjectRefusals causes;
    causes.add(ObjectRefusal::UnwindTable);
    reports_.refused(object.request.path, causes);
  }
  if (table) return *table;
  if (table.error().kind() == ErrorKind::Unsupported) return OFFCPUD_UNWIND_NO_OBJECT;
  reports_.failed(table.error());
  object.retry_at = std::chrono::steady_clock::now() + kBetweenAttempts;
  return std::nullopt;
}

void ObjectRegistry::add_table(std::uint64_t id, Object& object, int fd, const ShareOwner& owner) {
  const auto table = make_table(object, fd, owner);
  if (!table) return have_made_later(id, object, owner);
  object.table_due = false;
  if (*table == OFFCPUD_UNWIND_NO_OBJECT || *table == object.table) return late_.forget(id);
  object.table = *table;
  late_.made(id);
}

void ObjectRegistry::have_made_later(std::uint64_t id, Object& object, const ShareOwner& owner) {
  if (!object.table_due) ++late_tables_;
  object.table_due = true;
  late_.wait(id, owner);
}

// The table was dropped for others while nobody used it.
void ObjectRegistry::add_again(std::uint64_t id, Object& object, std::uint32_t tgid) {
  object.table = OFFCPUD_UNWIND_NO_OBJECT;
  const ShareOwner owner = user_of(tgid, object);
  if (const OpenedFile opened = open_again(object); opened.fd) {
    return add_table(id, object, opened.fd.get(), owner);
  }
  object.table_due = true;
  late_.wait(id, owner);
}

// Objects to be retried are queued again after the round, so each is tried once in it. A user for
// whom a file system was slow, or an attempt is too early, is left out of the rest of the round,
// whoever owns the file, so that others come first.
void ObjectRegistry::make_late_tables(const MappingsOf& mappings_of) {
  const auto until = thread_cpu_time() + kRound;
  std::vector<ObjectTurns::Turn> wait_on;
  std::vector<ShareOwner> slow;
  const auto may = [&](const ShareOwner& user) {
    return std::ranges::find(slow, user) == slow.end() && has_time(user);
  };
  while (const auto turn = late_.next(may)) {
    const Outcome outcome = make_late_table(*turn, mappings_of);
    if (outcome == Outcome::Slow) slow.push_back(turn->user);
    if (file_may_come_later(outcome)) wait_on.push_back(*turn);
    if (thread_cpu_time() >= until) break;
  }
  for (const ObjectTurns::Turn& turn : wait_on) late_.wait(turn.object, turn.user);
}

// If the file cannot be opened, whoever maps it next tries again. A file that could not be opened
// when it was found is passed on for its names, too.
OpenedFile::Outcome ObjectRegistry::make_late_table(const ObjectTurns::Turn& turn,
                                                    const MappingsOf& mappings_of) {
  Object& object = objects_.at(turn.object);
  const auto now = std::chrono::steady_clock::now();
  // The user's other objects were tried later than this one.
  if (now < object.retry_at) return Outcome::Slow;
  OpenedFile opened = open_from_any(turn.object, object, mappings_of);
  if (opened.fd) {
    add_table(turn.object, object, opened.fd.get(), turn.user);
    if (std::exchange(object.file_due, false)) offer(turn.object, object, std::move(opened.fd));
  } else {
    object.retry_at = now + kBetweenAttempts;
  }
  return opened.outcome;
}

// The last process to map the object may be gone or refused while others have the file, so this
// asks a few others, continuing after the one asked last. It stops when a file system was slow,
// because the others may be on it, too.
OpenedFile ObjectRegistry::open_from_any(std::uint64_t id, Object& object,
                                         const MappingsOf& mappings_of) {
  OpenedFile opened = open_again(object);
  Outcome best = opened.outcome;
  const auto& processes = late_.processes_of(id);
  auto next = processes.find(object.request.tgid);
  for (std::size_t left = std::min(processes.size(), kMostProcessesAsked); left > 0; --left) {
    if (opened.fd || opened.outcome == Outcome::Slow) return opened;
    if (next == processes.end() || ++next == processes.end()) next = processes.begin();
    const Mapping* const mapping = own_mapping_of(mappings_of(*next), id);
    if (mapping == nullptr) continue;
    object.request.tgid = *next;
    object.request.begin = mapping->begin;
    object.request.end = mapping->end;
    opened = open_again(object);
    if (file_may_come_later(opened.outcome)) best = opened.outcome;
  }
  if (!opened.fd && !file_may_come_later(opened.outcome)) opened.outcome = best;
  return opened;
}

// The time counts against the user of the process, whose number of mappings determines it.
void ObjectRegistry::tell_late_tables(const MappingsOf& mappings_of) {
  const auto until = thread_cpu_time() + kRound;
  const auto may = [this](const ShareOwner& user) { return has_time(user); };
  while (auto telling = late_.next_to_tell(may)) {
    const auto before = thread_cpu_time();
    const auto tables_before = tables_cpu_;  // already accounted
    if (!tell_some(*telling, mappings_of(telling->tgid))) late_.tell_rest(*telling);
    const auto after = thread_cpu_time();
    shares_.spend(telling->user, after - before - (tables_cpu_ - tables_before),
                  std::chrono::steady_clock::now());
    if (after >= until) break;
  }
}

bool ObjectRegistry::tell_some(LateTables::Telling& telling, std::span<const Mapping> mappings) {
  std::size_t left = kAtOnce;
  for (const Mapping& mapping : mappings_from(mappings, telling.from)) {
    if (!lacks_table(telling.tgid, mapping)) continue;
    telling.from = mapping.begin;
    if (left-- == 0) return false;
    add(telling.tgid, mapping);
    if (room_ != nullptr && !room_->admits(telling.tgid)) return true;  // taken out
  }
  return true;
}

std::span<const Mapping> ObjectRegistry::mappings_from(std::span<const Mapping> mappings,
                                                       std::uint64_t begin) {
  const auto first = std::ranges::lower_bound(mappings, begin, {}, &Mapping::begin);
  return mappings.subspan(static_cast<std::size_t>(first - mappings.begin()));
}

bool ObjectRegistry::lacks_table(std::uint32_t tgid, const Mapping& mapping) const {
  if (!mapping.file->object) return false;
  const auto object = objects_.find(mapping.file->object->id);
  if (object == objects_.end()) return false;
  if (object->second.table == OFFCPUD_UNWIND_NO_OBJECT) return false;
  const auto place = tables_->place(tgid, mapping.begin);
  return !place || place->object != object->second.table;
}

}  // namespace offcpud
