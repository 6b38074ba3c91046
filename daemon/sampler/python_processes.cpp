// SPDX-License-Identifier: Apache-2.0
#include "sampler/python_processes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "reader/memory_words.h"
#include "symbols/demangle.h"

namespace offcpud {
namespace {

std::string_view file_name(const LocatedFrame& frame) {
  if (!frame.file || frame.file->kind != MappedFile::Kind::File) return {};
  const std::string_view path = frame.file->path;
  return path.substr(path.find_last_of('/') + 1);
}

// The library, if there is one: the program beside it has no interpreter then.
const LocatedFrame* python_frame(std::span<const LocatedFrame> frames) {
  const LocatedFrame* program = nullptr;
  for (const LocatedFrame& frame : frames) {
    const std::string_view name = file_name(frame);
    if (!may_be_python(name)) continue;
    if (name.starts_with("lib")) return &frame;
    program = &frame;
  }
  return program;
}

bool is_musl(std::span<const LocatedFrame> frames) {
  return std::ranges::any_of(frames, [](const LocatedFrame& frame) {
    const std::string_view name = file_name(frame);
    return name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
  });
}

}  // namespace

PythonProcesses::Found PythonProcesses::find(const offcpud_sample& sample,
                                             std::span<const LocatedFrame> frames) {
  const LocatedFrame* const frame = python_frame(frames);
  if (frame == nullptr) return {};
  const MonotonicTime now = clock_.now();
  const std::uint64_t object = frame->file->object ? frame->file->object->id : 0;
  const Key key(sample.local_tgid, sample.process_start_ns, object,
                frame->address - frame->file_offset);
  auto known = known_.find(key);
  const bool looks = known == known_.end() || (!known->second.runtime && known->second.may_change &&
                                               now - known->second.looked >= kAgain);
  if (looks) {
    if (new_ == kMostNew) return {.is = Is::NotNow, .runtime = nullptr};
    ++new_;
    const std::string name = shown_name(file_name(*frame));
    Known looked;
    if (is_musl(frames)) {
      refuse(sample, name,
             {.runtime = std::nullopt,
              .refusal = PythonRefusal::Build,
              .why = "its C library is musl"});
    } else {
      looked = look(sample, *frame, name);
    }
    looked.looked = now;
    looked.owner = user_of_(sample.local_tgid);
    if (known == known_.end() && known_.size() == kMost) forget_oldest();
    known = known_.insert_or_assign(key, std::move(looked)).first;
  }
  known->second.seen = now;
  const auto& runtime = known->second.runtime;
  return {.is = runtime ? Is::Python : Is::Refused, .runtime = runtime};
}

PythonProcesses::Known PythonProcesses::look(const offcpud_sample& sample,
                                             const LocatedFrame& frame, const std::string& name) {
  Known known;
  FoundPython found = find_at(sample.local_tgid, frame, name);
  if (found.runtime) {
    known.runtime = std::make_shared<const PythonRuntime>(*found.runtime);
    return known;
  }
  known.may_change = found.refusal == PythonRefusal::Memory;
  refuse(sample, name, found);
  return known;
}

void PythonProcesses::refuse(const offcpud_sample& sample, const std::string& name,
                             const FoundPython& found) {
  ++refusals_[static_cast<std::size_t>(found.refusal)];
  refused_("the functions of Python of process " + std::to_string(sample.local_tgid) + " (" + name +
           ") are not shown: " + found.why);
}

void PythonProcesses::mismatch(const offcpud_sample& sample) {
  ++refusals_[static_cast<std::size_t>(PythonRefusal::Memory)];
  refused_("the functions of Python of thread " + std::to_string(sample.local_tid) +
           " of process " + std::to_string(sample.local_tgid) +
           " are not shown: its memory is not that of a thread of Python");
}

// Where the beginning of the file is mapped. Most programs are linked so that each part is as far
// behind it as in the file; of the others the tables for walks know.
FoundPython PythonProcesses::find_at(std::uint32_t tgid, const LocatedFrame& frame,
                                     const std::string& name) const {
  const MemoryWords memory(memory_, tgid);
  FoundPython found = find_python(memory, frame.address - frame.file_offset, name);
  if (found.runtime || lookup_ == nullptr) return found;
  const auto place = lookup_->place(tgid, frame.address);
  if (!place || place->bias == 0 || place->bias == frame.address - frame.file_offset) return found;
  FoundPython by_table = find_python(memory, place->bias, name);
  return by_table.runtime ? by_table : found;
}

std::vector<std::uint32_t> PythonProcesses::next_to_look_at() {
  using Item = std::map<Key, Known>::value_type;
  struct Turn {
    std::size_t place = 0;   // among those of the user
    std::uint64_t last = 0;  // of the user
    Item* item = nullptr;
  };
  const MonotonicTime now = clock_.now();
  std::map<ShareOwner, std::vector<Item*>> of_users;
  for (Item& item : known_) {
    const Known& known = item.second;
    if (known.runtime && now - known.seen <= kLookedAtFor) of_users[known.owner].push_back(&item);
  }
  std::vector<Turn> turns;
  for (auto& [user, items] : of_users) {
    std::ranges::stable_sort(items, {}, [](const Item* item) { return item->second.turn; });
    const std::uint64_t last = items.back()->second.turn;
    for (std::size_t i = 0; i < std::min(items.size(), kMostLookedAt); ++i) {
      turns.push_back({.place = i, .last = last, .item = items[i]});
    }
  }
  std::ranges::stable_sort(turns, {},
                           [](const Turn& turn) { return std::pair(turn.place, turn.last); });
  if (turns.size() > kMostLookedAt) turns.resize(kMostLookedAt);
  std::vector<std::uint32_t> found;
  for (const Turn& turn : turns) {
    turn.item->second.turn = ++turns_;
    found.push_back(std::get<0>(turn.item->first));
  }
  return found;
}

// It may have several: one in the program and one in a library, or one of a program that it ran
// before.
const PythonProcesses::Key* PythonProcesses::latest_of(std::uint32_t tgid,
                                                       std::uint64_t start_ns) const {
  const Key* latest = nullptr;
  MonotonicTime seen{};
  for (auto known = known_.lower_bound({tgid, start_ns, 0, 0}); known != known_.end(); ++known) {
    const auto& [key, has] = *known;
    if (std::get<0>(key) != tgid || std::get<1>(key) != start_ns) break;
    if (!has.runtime || (latest != nullptr && has.seen <= seen)) continue;
    latest = &key;
    seen = has.seen;
  }
  return latest;
}

std::shared_ptr<const PythonRuntime> PythonProcesses::runtime_of(std::uint32_t tgid,
                                                                 std::uint64_t start_ns) const {
  const Key* const latest = latest_of(tgid, start_ns);
  return latest == nullptr ? nullptr : known_.at(*latest).runtime;
}

ShareOwner PythonProcesses::owner_of(std::uint32_t tgid, std::uint64_t start_ns) const {
  const Key* const latest = latest_of(tgid, start_ns);
  return latest == nullptr ? ShareOwner() : known_.at(*latest).owner;
}

void PythonProcesses::keep(std::uint32_t tgid, std::uint64_t start_ns) {
  if (const Key* const latest = latest_of(tgid, start_ns)) known_.at(*latest).seen = clock_.now();
}

void PythonProcesses::forget_oldest() {
  known_.erase(
      std::ranges::min_element(known_, {}, [](const auto& item) { return item.second.seen; }));
}

}  // namespace offcpud
