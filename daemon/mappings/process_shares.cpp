// SPDX-License-Identifier: Apache-2.0
// What keeps one process from taking the memory and the time that are there for all of them.
#include <algorithm>
#include <utility>
#include <vector>

#include "mappings/process_mappings.h"

namespace offcpud {
namespace {

// Events of one process that are applied in a second, by how many all processes had in it: whoever
// has most gives way first. An event takes 5 us, and a program that starts has 10 to 200.
constexpr unsigned most_events(unsigned of_all) {
  if (of_all < 20'000) return 10'000;
  return of_all < 40'000 ? 2'000 : 400;
}

// Together, reading such processes takes a tenth of the thread's time.
constexpr int kShareOfReading = 10;

constexpr std::size_t kLookedAt = 64;  // of those that wait, in one call

}  // namespace

// What it leaves out is in /proc.
bool ProcessMappings::is_one_too_many(Image& image, MonotonicTime when) {
  const auto second = std::chrono::floor<std::chrono::seconds>(when.time_since_epoch());
  if (std::exchange(second_, second) != second) events_ = 0;
  if (std::exchange(image.second, second) != second) image.events = 0;
  if (++image.events <= most_events(++events_)) return false;
  ++counts_.events_left_out;
  image.over_share = true;
  read_later(image, false);
  return true;
}

std::optional<std::uint32_t> ProcessMappings::uid_of(Image& image) {
  if (!image.uid) image.uid = reader_.user_of(image.id.tgid);
  return image.uid;
}

// Mappings that several images share count for each by its part.
bool ProcessMappings::has_room(Image& image, std::size_t needed) {
  if (mappings_held_ + needed <= limits_.mappings) return true;
  if (image.over_share) return false;  // as it was the last time
  std::vector<ShareHolder> holders;
  for (auto& [tgid, history] : processes_) {
    Image& other = history.back();
    const auto sharing = static_cast<std::size_t>(other.mappings.use_count());
    if (other.ended || other.mappings->size() == 0) continue;
    holders.push_back({tgid, uid_of(other), 1 + (other.mappings->size() - 1) / sharing});
  }
  while (mappings_held_ + needed > limits_.mappings) {
    const auto gives =
        who_gives_way(holders, {image.id.tgid, uid_of(image), image.mappings->size() + 1});
    if (!gives) return false;
    give_up(*live(*gives));
    std::erase_if(holders, [&](const ShareHolder& holder) { return holder.tgid == *gives; });
  }
  return true;
}

void ProcessMappings::refuse(Image& image) {
  ++counts_.mappings_refused;
  image.over_share = true;
  read_later(image, false);
}

void ProcessMappings::give_up(Image& image) {
  counts_.mappings_refused += image.mappings->size();
  replace(image, std::make_shared<MappingSet>(mappings_held_));
  image.over_share = true;
}

void ProcessMappings::read_later(const Image& image, bool execs_missed) {
  const auto [entry, is_new] = is_to_read_.try_emplace(image.id.tgid, execs_missed);
  entry->second = entry->second || execs_missed;
  if (is_new) to_read_.push_back(image.id.tgid);
}

void ProcessMappings::catch_up() {
  for (std::size_t left = std::min(to_read_.size(), kLookedAt); left > 0; --left) {
    const MonotonicTime now = clock_.now();
    if (now < next_costly_read_) return;
    const std::uint32_t tgid = to_read_.front();
    to_read_.pop_front();
    const Image* const image = live(tgid);
    if (image != nullptr && now < image->read_next) {
      to_read_.push_back(tgid);
      continue;
    }
    const bool execs_missed = is_to_read_.extract(tgid).mapped();
    if (image == nullptr) continue;
    read_process(tgid, execs_missed);
    const auto cost = clock_.now() - now;
    if (cost >= kCostlyRead) next_costly_read_ = clock_.now() + (kShareOfReading - 1) * cost;
  }
}

std::vector<OverShare> ProcessMappings::over_share() {
  std::vector<OverShare> found;
  for (auto& [tgid, history] : processes_) {
    Image& image = history.back();
    if (image.ended || !image.over_share) continue;
    found.push_back({tgid, uid_of(image), image.mappings->size()});
  }
  return found;
}

}  // namespace offcpud
