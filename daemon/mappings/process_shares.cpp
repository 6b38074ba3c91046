// SPDX-License-Identifier: Apache-2.0
// How ProcessMappings keeps one process from using up the memory and time of all.
#include <algorithm>
#include <utility>
#include <vector>

#include "mappings/process_mappings.h"

namespace offcpud {
namespace {

// The most events of one process that are applied in a second, given the number of all processes'
// events in that second: the process with most is cut off first. An event takes 5 us; a program
// that starts has 10 to 200.
constexpr unsigned most_events(unsigned of_all) {
  if (of_all < 20'000) return 10'000;
  return of_all < 40'000 ? 2'000 : 400;
}

// The share of the thread's time for reading such processes.
constexpr double kShareOfReading = 0.1;
// limit for one call, exceeded by one process at most
constexpr std::chrono::duration<double> kMostReading{0.02};

constexpr std::size_t kLookedAt = 64;  // number of waiting processes examined in one call

// Number of waiting processes compared with all others in one call, and the time between calls: 5
// ms with 65,536 processes.
constexpr std::size_t kComparedAtOnce = 4;
constexpr std::chrono::seconds kBetweenBacks{1};

}  // namespace

// What this leaves out is read from /proc later.
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

bool ProcessMappings::has_room(Image& image, std::size_t needed) {
  if (mappings_held_ + needed <= limits_.mappings) return true;
  // nothing has changed since the last time
  if (image.over_share || needed > limits_.mappings) return false;
  return others_give_way({image.id.tgid, uid_of(image), image.mappings->size() + 1},
                         limits_.mappings - needed);
}

// Of mappings that several images share, each image holds an equal part.
std::vector<ShareHolder> ProcessMappings::share_holders() {
  std::vector<ShareHolder> holders;
  for (auto& [tgid, history] : processes_) {
    Image& image = history.back();
    const auto sharing = static_cast<std::size_t>(image.mappings.use_count());
    if (image.ended || image.mappings->size() == 0) continue;
    holders.push_back({tgid, uid_of(image), 1 + (image.mappings->size() - 1) / sharing});
  }
  return holders;
}

bool ProcessMappings::others_give_way(const ShareHolder& wants, std::size_t most) {
  std::vector<ShareHolder> holders = share_holders();
  while (mappings_held_ > most) {
    const auto gives = who_gives_way(holders, wants);
    if (!gives) return false;
    give_up(*live(*gives));
    std::erase_if(holders, [&](const ShareHolder& holder) { return holder.tgid == *gives; });
  }
  return true;
}

void ProcessMappings::give_up(Image& image) {
  const std::size_t had = image.mappings->size();
  counts_.mappings_refused += had;
  replace(image, std::make_shared<MappingSet>(mappings_held_));
  image.over_share = true;
  wait_for_room(image, had);
}

void ProcessMappings::wait_for_room(Image& image, std::size_t wants) {
  image.wants = std::min(wants, limits_.of_image);
  without_room_.push(image.id.tgid);
}

// A process that could only get room by evicting others, who would then evict it, waits until
// half of the room is free.
void ProcessMappings::come_back() {
  const MonotonicTime now = clock_.now();
  if (without_room_.size() == 0 || now < next_back_) return;
  next_back_ = now + kBetweenBacks;
  const bool has_half = mappings_held_ <= limits_.mappings / 2;
  const auto holders = has_half ? std::vector<ShareHolder>() : share_holders();
  std::size_t left = std::min(without_room_.size(), has_half ? kLookedAt : kComparedAtOnce);
  for (; left > 0; --left) {
    const std::uint32_t tgid = *without_room_.pop();
    Image& image = *live(tgid);
    if (!image.over_share) continue;
    if (has_half || who_gives_way(holders, {tgid, uid_of(image), image.wants})) {
      read_later(image, false);
    } else {
      without_room_.push(tgid);
    }
  }
}

void ProcessMappings::read_later(const Image& image, bool execs_missed) {
  const auto [entry, is_new] = is_to_read_.try_emplace(image.id.tgid, execs_missed);
  entry->second = entry->second || execs_missed;
  if (is_new) to_read_.push_back(image.id.tgid);
}

void ProcessMappings::catch_up() {
  come_back();
  for (std::size_t left = std::min(to_read_.size(), kLookedAt); left > 0; --left) {
    const MonotonicTime now = clock_.now();
    if (reading_at_ == MonotonicTime::min()) reading_at_ = now;
    reading_ = std::min<std::chrono::duration<double>>(
        reading_ + kShareOfReading * (now - reading_at_), kMostReading);
    reading_at_ = now;
    if (reading_.count() < 0) return;
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
    reading_ -= clock_.now() - now;
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
