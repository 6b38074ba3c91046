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
constexpr double kShareOfReading = 0.1;
constexpr std::chrono::duration<double> kMostReading{0.02};  // in one call, and one process more

constexpr std::size_t kLookedAt = 64;  // of those that wait, in one call

// Of those that wait for room, so many are compared with all others, so often: 5 ms where there are
// 65,536 processes.
constexpr std::size_t kComparedAtOnce = 4;
constexpr std::chrono::seconds kBetweenBacks{1};

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

bool ProcessMappings::has_room(Image& image, std::size_t needed) {
  if (mappings_held_ + needed <= limits_.mappings) return true;
  if (image.over_share || needed > limits_.mappings) return false;  // as it was the last time
  return others_give_way({image.id.tgid, uid_of(image), image.mappings->size() + 1},
                         limits_.mappings - needed);
}

// Mappings that several images share count for each by its part.
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

// Who would only take from others what they take back at once waits until half of the room is free.
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
