// SPDX-License-Identifier: Apache-2.0
#include "mappings/process_mappings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace offcpud {
namespace {

// Code that keeps mapping and unmapping at new addresses leaves mappings that no event removes.
// From this number on, /proc is read to find out which exist.
constexpr std::size_t kReadAgainAt = 4096;

// A failed attempt to open may have been a temporary delay, so each place gets a few more attempts.
constexpr std::chrono::seconds kForgivesEvery{60};

}  // namespace

ProcessMappings::ProcessMappings(MappingObserver& observer, FileOpener& opener,
                                 ProcessReader& reader, const Clock& clock, const Limits& limits)
    : observer_(observer),
      reader_(reader),
      opener_(opener),
      clock_(clock),
      limits_(limits),
      files_(
          opener, limits.unused_objects,
          [this](const auto& object, const MappedFile& file, UniqueFd fd) {
            observer_.object_found(object, file, std::move(fd));
          },
          [this](const MappedObject& object, UniqueFd fd) {
            observer_.copy_found(object, std::move(fd));
          },
          [this](const MappedObject& object) { observer_.object_forgotten(object); },
          [this](std::uint32_t tgid, const RootId& root) {
            if (Image* const image = live(tgid)) image->root = root;
          }) {}

void ProcessMappings::apply(const MappingEvent& event) {
  if (event.kind == MappingEvent::Kind::Lost) {
    needs_scan_ = true;
    return;
  }
  const Image* known = live(event.tgid);
  if (known != nullptr && event.time < known->read_at) return;
  switch (event.kind) {
    case MappingEvent::Kind::Mapped:
      return on_mapped(event);
    case MappingEvent::Kind::Forked:
      return on_forked(event);
    case MappingEvent::Kind::Exited:
      return on_exited(event);
    case MappingEvent::Kind::Executed:
      return on_executed(event);
    case MappingEvent::Kind::Lost:
      return;
  }
}

void ProcessMappings::on_mapped(const MappingEvent& event) {
  Image* image = live(event.tgid);
  if (image == nullptr) {
    image = begin(event.tgid, 0, opener_.root_of(event.tgid), event.time, nullptr);
  }
  if (image == nullptr) return;
  if (is_one_too_many(*image, event.time)) return;
  put(*image, {.tgid = event.tgid,
               .parent_tgid = image->parent_tgid,
               .begin = event.begin,
               .end = event.end,
               .offset = event.offset,
               .build_id = event.build_id,
               .inode = event.inode,
               .root = image->root,
               .copies = true,
               .path = event.path});
  if (image->mappings->size() < image->read_again_at) return;
  image->read_again_at = std::max(kReadAgainAt, 2 * image->mappings->size());
  read_later(*image, needs_scan_);
  catch_up();
}

void ProcessMappings::on_forked(const MappingEvent& event) {
  if (event.parent_tgid != event.tgid) {
    // Kernel threads, and children of unknown processes, have nothing to inherit.
    const Image* parent = live(event.parent_tgid);
    if (parent == nullptr) return;
    const Image* const child = begin(event.tgid, event.parent_tgid, parent->root.inherited(),
                                     event.time, parent->mappings);
    // The parent may end first, for instance when a program goes into the background.
    if (child != nullptr && refused_.contains(event.parent_tgid)) refused_.push(event.tgid);
    return;
  }
  Image* image = live(event.tgid);
  if (image == nullptr) return;
  if (!image->threads) {
    image->threads = std::make_unique<std::unordered_set<std::uint32_t>>();
    image->threads->insert(event.tgid);
  }
  image->threads->insert(event.tid);
}

void ProcessMappings::on_exited(const MappingEvent& event) {
  Image* image = live(event.tgid);
  if (image == nullptr) return;
  if (image->threads) image->threads->erase(event.tid);
  const bool last = image->threads ? image->threads->empty() : event.tid == event.tgid;
  if (last) end(*image, event.time);
}

void ProcessMappings::on_executed(const MappingEvent& event) {
  const Image* image = live(event.tgid);
  const std::uint32_t parent = image == nullptr ? 0 : image->parent_tgid;
  // The process may have changed its root before, as container runtimes do; if it is gone
  // already, it probably did not.
  RootId root = opener_.root_of(event.tgid);
  if (!root.known() && image != nullptr) root = image->root.inherited();
  begin(event.tgid, parent, root, event.time, nullptr);
}

ProcessMappings::Image* ProcessMappings::live(std::uint32_t tgid) {
  return const_cast<Image*>(std::as_const(*this).live(tgid));
}

const ProcessMappings::Image* ProcessMappings::live(std::uint32_t tgid) const {
  const auto found = processes_.find(tgid);
  if (found == processes_.end() || found->second.back().ended) return nullptr;
  return &found->second.back();
}

ProcessMappings::Image* ProcessMappings::begin(std::uint32_t tgid, std::uint32_t parent_tgid,
                                               RootId root, MonotonicTime when,
                                               std::shared_ptr<MappingSet> mappings) {
  if (Image* previous = live(tgid)) end(*previous, when);
  if (!make_room()) {
    ++counts_.images_refused;
    return nullptr;
  }
  if (!mappings) mappings = std::make_shared<MappingSet>(mappings_held_);
  Image image;
  image.id = {tgid, ++last_serial_};
  image.parent_tgid = parent_tgid;
  image.root = root;
  image.began = when;
  image.mappings = std::move(mappings);
  image.read_again_at = std::max(kReadAgainAt, 2 * image.mappings->size());
  image.over_share = image.mappings->size() >= limits_.of_image;
  History& history = processes_[tgid];
  history.push_back(std::move(image));
  ++images_;
  observer_.image_began(history.back().id, history.back().mappings->all());
  return &history.back();
}

void ProcessMappings::end(Image& image, MonotonicTime when) {
  image.ended = when;
  image.threads.reset();
  refused_.erase(image.id.tgid);
  without_room_.erase(image.id.tgid);
  ended_.push_back({image.id, generation_});
  observer_.image_ended(image.id, image.mappings->all());
}

bool ProcessMappings::make_room() {
  if (images_ < limits_.images) return true;
  if (ended_.empty()) return false;
  ++counts_.ended_too_early;
  forget(ended_.front().id);
  ended_.pop_front();
  return true;
}

void ProcessMappings::forget(const ImageId& id) {
  const auto process = processes_.find(id.tgid);
  if (process == processes_.end()) return;
  images_ -= std::erase_if(process->second, [&id](const Image& image) { return image.id == id; });
  if (process->second.empty()) processes_.erase(process);
}

void ProcessMappings::forget_ended(std::uint64_t generation) {
  while (!ended_.empty() && ended_.front().generation <= generation) {
    forget(ended_.front().id);
    ended_.pop_front();
  }
  files_.prune();
  if (clock_.now() >= forgives_at_) {
    files_.forgive();
    forgives_at_ = clock_.now() + kForgivesEvery;
  }
  opener_.refresh();
}

void ProcessMappings::put(Image& image, const SeenMapping& seen) {
  const bool shared = image.mappings.use_count() > 1;
  const std::size_t needed = (shared ? image.mappings->size() : 0) + 1;
  const bool is_full = image.mappings->size() >= limits_.of_image;
  if (is_full || !has_room(image, needed)) {
    ++counts_.mappings_refused;
    image.over_share = true;
    // The process may have fewer mappings by now than the events say.
    return is_full ? read_later(image, false) : wait_for_room(image, image.mappings->size() + 1);
  }
  const Mapping mapping{seen.begin, seen.end, seen.offset, files_.file_of(seen)};
  note_refused(image.id.tgid, *mapping.file);
  if (image.mappings->contains(mapping)) return;
  if (shared) image.mappings = std::make_shared<MappingSet>(*image.mappings);
  const MappingSet::Change change = image.mappings->put(mapping);
  for (const Mapping& removed : change.removed) observer_.mapping_removed(image.id, removed);
  for (const Mapping& added : change.added) observer_.mapping_added(image.id, added);
}

std::optional<ProcessMappings::Location> ProcessMappings::find(std::uint32_t tgid,
                                                               MonotonicTime when,
                                                               std::uint64_t address) const {
  const auto process = processes_.find(tgid);
  if (process == processes_.end()) return std::nullopt;
  const History& history = process->second;
  // The last image that had begun then; for an older time, the first one. A thread blocks once more
  // after the event of its end, so the time of an end does not exclude an image.
  auto image = std::find_if(history.rbegin(), history.rend(),
                            [when](const Image& one) { return one.began <= when; });
  if (image == history.rend()) image = std::prev(history.rend());
  const Mapping* mapping = image->mappings->at(address);
  if (mapping == nullptr) return std::nullopt;
  return Location{mapping, mapping->offset + (address - mapping->begin)};
}

std::span<const Mapping> ProcessMappings::mappings_of(std::uint32_t tgid) const {
  const Image* image = live(tgid);
  return image == nullptr ? std::span<const Mapping>() : image->mappings->all();
}

ProcessMappings::Counts ProcessMappings::counts() const {
  Counts counts = counts_;
  counts.ended = ended_.size();
  counts.live = images_ - ended_.size();
  counts.mappings = mappings_held_;
  counts.objects = files_.objects();
  counts.files = files_.counts();
  return counts;
}

}  // namespace offcpud
