// SPDX-License-Identifier: Apache-2.0
// How ProcessMappings reads from /proc what no event reports: mappings from before the first event,
// and changes while events were lost.
#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "mappings/process_mappings.h"

namespace offcpud {
namespace {

constexpr std::size_t kTriedAtOnce = 16;  // unreadable processes in one call

// Refused objects of one process in one call: 0.1 ms each, during which no stacks are taken.
constexpr std::size_t kOpenedAtOnce = 16;

// Mappings searched for refused files in one call. Calls are at most 10 ms apart, so all mappings
// of ProcessMappings::Limits are searched within a second.
constexpr std::size_t kLookedAtOnce = 16384;
// searching a process costs at least as much as this many mappings
constexpr std::size_t kTurn = 16;

// A report of newly opened objects walks the mappings of all processes.
constexpr std::chrono::seconds kBetweenTellings{1};

// The mapping that starts where `mapping` does and has the same path. Null: there is none.
const Mapping* counterpart(const MappingSet& mappings, const Mapping& mapping) {
  const Mapping* found = mappings.at(mapping.begin);
  const bool same = found != nullptr && found->begin == mapping.begin &&
                    found->file->kind == mapping.file->kind &&
                    found->file->path == mapping.file->path;
  return same ? found : nullptr;
}

// Whether a part of `older` still exists, so that there was no exec between the two. Mappings
// without a file do not count, because each image has a vDSO.
bool same_image(const MappingSet& older, const MappingSet& newer) {
  if (older.size() == 0) return true;
  return std::any_of(older.all().begin(), older.all().end(), [&newer](const Mapping& mapping) {
    return mapping.file->kind == MappedFile::Kind::File && counterpart(newer, mapping) != nullptr;
  });
}

// A file that could not be opened now may be known with its build-id from an earlier event.
void recall(Mapping& mapping, const MappingSet& known) {
  if (!mapping.file->object || mapping.file->object->build_id.known()) return;
  const Mapping* before = counterpart(known, mapping);
  if (before != nullptr) mapping.file = before->file;
}

}  // namespace

Status ProcessMappings::scan(const std::function<void()>& between) {
  TRY(const auto processes, reader_.processes());
  ++counts_.scans;
  opener_.refresh();
  for (const std::uint32_t tgid : processes) {
    const Image* known = live(tgid);
    if (known != nullptr && known->read_cost >= kCostlyRead) {
      read_later(*known, true);
    } else {
      read_process(tgid, true);
    }
    if (between) between();
  }

  const std::unordered_set<std::uint32_t> existing(processes.begin(), processes.end());
  const MonotonicTime now = clock_.now();
  for (auto& [tgid, history] : processes_) {
    if (!existing.contains(tgid) && !history.back().ended) end(history.back(), now);
  }
  needs_scan_ = false;
  return {};
}

void ProcessMappings::read_process(std::uint32_t tgid, bool execs_missed) {
  const MonotonicTime before = clock_.now();
  auto read = reader_.read(tgid);
  if (!read) {
    ++counts_.processes_unreadable;
    if (read.error().kind() != ErrorKind::Permission) unread_.push(tgid);
    return;  // what is known of it stays
  }
  unread_.erase(tgid);
  Image* image = live(tgid);
  if (!*read) {
    if (image != nullptr) end(*image, before);
    return;
  }
  const ProcessReader::Process& process = **read;
  ReadSet found = read_set(tgid, process.maps, image);
  if (image != nullptr && (!execs_missed || same_image(*image->mappings, *found.mappings))) {
    replace(*image, std::move(found.mappings));
  } else {
    // The start time of a process is unknown, but matters only if there was another one before.
    const bool successor = processes_.contains(tgid);
    image = begin(tgid, 0, opener_.root_of(tgid), successor ? before : MonotonicTime::min(),
                  std::move(found.mappings));
    if (image == nullptr) return;
  }
  if (found.refused) refused_.push(tgid);  // not earlier: an image that ends takes its entry along
  image->read_at = before;
  image->read_cost = clock_.now() - before;
  image->read_next = clock_.now() + std::max<std::chrono::nanoseconds>(std::chrono::seconds(1),
                                                                       100 * image->read_cost);
  counts_.mappings_refused += process.left_out;
  image->over_share =
      !found.had_room || process.maps.size() > limits_.of_image || process.left_out > 0;
  if (!found.had_room) wait_for_room(*image, process.maps.size());
  image->threads.reset();
  if (process.threads.size() != 1 || process.threads.front() != tgid) {
    image->threads = std::make_unique<std::unordered_set<std::uint32_t>>(process.threads.begin(),
                                                                         process.threads.end());
  }
}

// The limit allows for the image's present mappings, which the new ones replace.
ProcessMappings::ReadSet ProcessMappings::read_set(std::uint32_t tgid,
                                                   const std::vector<MapsLine>& maps,
                                                   Image* image) {
  ReadSet read;
  read.mappings = std::make_shared<MappingSet>(mappings_held_);
  MappingSet& mappings = *read.mappings;
  const MappingSet* const known = image == nullptr ? nullptr : image->mappings.get();
  const bool replaces = image != nullptr && image->mappings.use_count() == 1;
  const std::size_t most = limits_.mappings + (replaces ? known->size() : 0) - 1;
  const RootId root = opener_.root_of(tgid);
  for (const MapsLine& line : maps) {
    if (read.had_room && mappings_held_ > most) {
      const auto uid = image == nullptr ? reader_.user_of(tgid) : uid_of(*image);
      read.had_room = others_give_way({tgid, uid, mappings.size() + 1}, most);
    }
    if (!read.had_room || mappings.size() >= limits_.of_image) {
      ++counts_.mappings_refused;
      continue;
    }
    const SeenMapping seen{.tgid = tgid,
                           .parent_tgid = 0,
                           .begin = line.begin,
                           .end = line.end,
                           .offset = line.offset,
                           .build_id = {},
                           .inode = line.inode,
                           .root = root,
                           .copies = false,
                           .path = line.path};
    Mapping mapping{line.begin, line.end, line.offset, files_.file_of(seen)};
    if (known != nullptr) recall(mapping, *known);
    read.refused = read.refused || files_.is_refused(*mapping.file);
    (void)mappings.put(mapping);
  }
  return read;
}

void ProcessMappings::note_refused(std::uint32_t tgid, const MappedFile& file) {
  if (files_.is_refused(file)) refused_.push(tgid);
}

void ProcessMappings::try_again(const std::function<void()>& between) {
  for (std::size_t tried = 0; tried < kTriedAtOnce; ++tried) {
    const auto unread = unread_.pop();
    if (!unread) break;
    const std::uint64_t failures = counts_.processes_unreadable;
    const MonotonicTime before = clock_.now();
    read_process(*unread, true);
    if (counts_.processes_unreadable != failures) break;  // others would fail the same way now
    if (clock_.now() - before >= kCostlyRead) break;
  }
  try_refused_in_turn();
  if (!opened_.empty() && clock_.now() >= tells_at_) tell_again(between);
}

// Tries one process, after skipping those with nothing left to try. Children that share all their
// mappings with it follow it in the queue; they are done together with it.
void ProcessMappings::try_refused_in_turn() {
  const MappingSet* seen = nullptr;
  bool tried = false;
  bool left = false;
  std::size_t looked = 0;
  for (std::size_t turns = refused_.size(); turns > 0 && looked < kLookedAtOnce; --turns) {
    const std::uint32_t tgid = *refused_.next();
    Image* const image = live(tgid);
    const bool is_alike = image != nullptr && image->mappings.get() == seen;
    if (tried && !is_alike) return;
    (void)refused_.pop();
    looked += kTurn;
    if (image == nullptr) continue;
    if (is_alike) {
      if (left) refused_.push(tgid);
      continue;
    }
    seen = image->mappings.get();
    looked += seen->size();
    tried = open_refused(*image);
    left = refused_.contains(tgid);
  }
}

// Continues where it stopped the last time, so that files refused again do not delay the others.
bool ProcessMappings::open_refused(Image& image) {
  const std::span<const Mapping> all = image.mappings->all();
  const auto first = std::ranges::lower_bound(all, image.refused_from, {}, &Mapping::begin);
  auto at = static_cast<std::size_t>(first - all.begin());
  std::unordered_set<std::uint64_t> tried;
  for (std::size_t left = all.size(); left > 0; --left, ++at) {
    const Mapping& mapping = all[at % all.size()];
    const MappedFile& file = *mapping.file;
    if (!files_.is_refused(file) || tried.contains(file.object->id)) continue;
    if (tried.size() == kOpenedAtOnce) {
      image.refused_from = mapping.begin;
      refused_.push(image.id.tgid);
      return true;
    }
    tried.insert(file.object->id);
    if (try_refused(image, mapping)) opened_.insert(file.object->id);
  }
  return !tried.empty();
}

bool ProcessMappings::try_refused(const Image& image, const Mapping& mapping) {
  const MappedFile& file = *mapping.file;
  const SeenMapping seen{.tgid = image.id.tgid,
                         .parent_tgid = image.parent_tgid,
                         .begin = mapping.begin,
                         .end = mapping.end,
                         .offset = mapping.offset,
                         .build_id = file.object->build_id,
                         .inode = file.object->inode,
                         .root = image.root,
                         .path = file.path};
  if (files_.try_again(seen, file)) return true;
  note_refused(image.id.tgid, file);
  return false;
}

void ProcessMappings::tell_again(const std::function<void()>& between) {
  const auto objects = std::exchange(opened_, {});
  for (const auto& [tgid, history] : processes_) {
    if (history.back().ended) continue;
    for (const Mapping& mapping : history.back().mappings->all()) {
      if (!mapping.file->object || !objects.contains(mapping.file->object->id)) continue;
      observer_.mapping_removed(history.back().id, mapping);
      observer_.mapping_added(history.back().id, mapping);
    }
    if (between) between();
  }
  tells_at_ = clock_.now() + kBetweenTellings;
}

void ProcessMappings::replace(Image& image, std::shared_ptr<MappingSet> mappings) {
  const auto before = std::exchange(image.mappings, std::move(mappings));
  for (const Mapping& mapping : before->all()) {
    if (!image.mappings->contains(mapping)) observer_.mapping_removed(image.id, mapping);
  }
  for (const Mapping& mapping : image.mappings->all()) {
    if (!before->contains(mapping)) observer_.mapping_added(image.id, mapping);
  }
}

}  // namespace offcpud
