// SPDX-License-Identifier: Apache-2.0
// Where the tables of the store are, and which are removed when room is short.
#include <algorithm>
#include <iterator>
#include <utility>

#include "unwind/table_store.h"

namespace offcpud {
namespace {

// Divisor of the capacity: this part of a user's own unused tables is removed at once, because
// comparing all users takes milliseconds.
constexpr std::uint64_t kAtOnce = 64;

}  // namespace

std::uint64_t TableStore::max_chunks() const {
  return std::min<std::uint64_t>(limits_.row_bytes / sizeof(offcpud_unwind_chunk),
                                 maps_.max_chunks());
}

std::uint64_t TableStore::capacity(Room of) const {
  switch (of) {
    case Room::Rows:
      return max_chunks() * OFFCPUD_UNWIND_CHUNK_ROWS;
    case Room::Pages:
      return maps_.max_pages();
    case Room::Rules:
      return limits_.rules;
    case Room::Files:
      return maps_.max_files();
  }
  return 0;
}

// A rule counts for each table that uses it.
std::uint64_t TableStore::held(Room of, const Object& object) {
  std::uint64_t rows = 0;
  switch (of) {
    case Room::Rows:
      for (const PlacedPage& page : object.pages) rows += page.rows.rows;
      return rows;
    case Room::Pages:
      return object.pages.size();
    case Room::Rules:
      return object.rules.size();
    case Room::Files:
      return object.files.size();
  }
  return 0;
}

ShareOwner TableStore::user_of(std::uint32_t tgid) {
  if (!user_of_) return std::nullopt;
  const auto [known, is_new] = users_.try_emplace(tgid);
  if (is_new) known->second = user_of_(tgid);
  return known->second;
}

// The users who map each object, once each.
std::unordered_map<UnwindObjectId, std::vector<ShareOwner>> TableStore::users() {
  std::unordered_map<UnwindObjectId, std::vector<ShareOwner>> found;
  for (const auto& [tgid, mappings] : processes_) {
    const ShareOwner user = user_of(tgid);
    for (const auto& [begin, mapping] : mappings) {
      std::vector<ShareOwner>& users = found[mapping.object];
      if (std::ranges::find(users, user) == users.end()) users.push_back(user);
    }
  }
  return found;
}

TableVictims TableStore::victims_for(Room of, const Asking& asking) {
  auto users_of = users();
  std::vector<TableHolder> holders;
  const auto add = [&](UnwindObjectId id, std::vector<ShareOwner> owners, bool unused) {
    const std::uint64_t holds = id == asking.object ? 0 : held(of, objects_.at(id));
    if (holds > 0) holders.push_back({id, std::move(owners), unused, holds});
  };
  for (const UnwindObjectId id : unused_) add(id, {objects_.at(id).owner}, true);
  for (auto& [id, users] : users_of) {
    if (id != asking.object && id != OFFCPUD_UNWIND_NO_OBJECT) add(id, std::move(users), false);
  }
  std::vector<ShareOwner> owners = std::move(users_of[asking.object]);
  owners.push_back(asking.owner);
  const std::uint64_t wanted = of == Room::Rows    ? asking.rows
                               : of == Room::Pages ? asking.pages
                               : of == Room::Rules ? asking.rules
                                                   : asking.files;
  return {std::move(holders), owners, wanted, capacity(of)};
}

Result<bool> TableStore::make_room(Room of, Asking& asking) {
  if (of == Room::Rows && space_.chunks() < max_chunks()) {
    TRY_VOID(maps_.make_chunk(space_.chunks()));
    space_.add_chunk();
    return true;
  }
  if (!asking.victims || asking.of != of) {
    asking.victims = victims_for(of, asking);
    asking.of = of;
  }
  auto victim = asking.victims->next();
  if (!victim) return false;
  for (std::uint64_t given = 0; victim; victim = asking.victims->next_of_own()) {
    given += held(of, objects_.at(*victim));
    TRY_VOID(give_up(*victim, of));
    if (given >= capacity(of) / kAtOnce) break;
  }
  return true;
}

Status TableStore::give_up(UnwindObjectId id, Room of) {
  Object& object = objects_.at(id);
  if (object.mappings == 0) {
    counters_.evictions++;
    return remove_object(id);
  }
  if (of == Room::Files) {
    counters_.files_left_out += object.files.size();
    for (const FileKey& file : std::exchange(object.files, {})) TRY_VOID(forget_file(file));
    return {};
  }
  counters_.taken_out++;
  TRY_VOID(remove_table(id));
  object.has_room = false;
  object.tried_at = freed_;
  return {};
}

Status TableStore::place(const UnwindTable& table, Asking& asking) {
  Object& object = objects_.at(asking.object);
  object.has_room = true;
  TRY(const bool placed, place_all(table, asking));
  if (placed) return {};
  object.has_room = false;
  object.tried_at = freed_;
  counters_.without_room++;
  // Half a table would end stacks in unexplainable places.
  return remove_table(asking.object);
}

Result<bool> TableStore::place_all(const UnwindTable& table, Asking& asking) {
  std::vector<std::uint16_t> indices;
  TRY(const bool has_rules, place_rules(table, asking, indices));
  if (!has_rules) return false;
  for (const UnwindTable::Page& page : table.pages) {
    TRY(const bool placed, place_page(table, page, indices, asking));
    if (!placed) return false;
  }
  return true;
}

Result<bool> TableStore::place_rules(const UnwindTable& table, Asking& asking,
                                     std::vector<std::uint16_t>& indices) {
  Object& object = objects_.at(asking.object);
  for (const UnwindRule& rule : table.rules) {
    auto entry = dictionary_.take(rule);
    while (!entry) {
      TRY(const bool made, make_room(Room::Rules, asking));
      if (!made) return false;
      entry = dictionary_.take(rule);
    }
    object.rules.push_back(entry->index);
    indices.push_back(entry->index);
    if (entry->is_new) TRY_VOID(maps_.write_rule(entry->index, rule));
  }
  return true;
}

Result<bool> TableStore::place_page(const UnwindTable& table, const UnwindTable::Page& page,
                                    const std::vector<std::uint16_t>& indices, Asking& asking) {
  while (pages_ >= maps_.max_pages()) {
    TRY(const bool made, make_room(Room::Pages, asking));
    if (!made) return false;
  }
  auto extent = space_.take(page.count);
  while (!extent) {
    TRY(const bool made, make_room(Room::Rows, asking));
    if (!made) return false;
    extent = space_.take(page.count);
  }
  objects_.at(asking.object).pages.push_back({page.number, *extent});
  pages_++;
  std::vector<offcpud_unwind_row> rows(table.rows.begin() + page.first,
                                       table.rows.begin() + page.first + page.count);
  for (offcpud_unwind_row& row : rows) row.rule = indices[row.rule];
  TRY_VOID(maps_.write_rows(extent->chunk, extent->first, rows));
  TRY_VOID(maps_.put_page({.object = asking.object, .page = page.number},
                          {.chunk = extent->chunk, .first = extent->first, .rows = page.count}));
  return true;
}

}  // namespace offcpud
