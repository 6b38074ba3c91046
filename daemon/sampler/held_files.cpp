// SPDX-License-Identifier: Apache-2.0
#include "sampler/held_files.h"

#include <chrono>
#include <utility>

namespace offcpud {
namespace {

constexpr std::size_t kMostOpen = 1024;
constexpr std::chrono::seconds kRound{10};

}  // namespace

bool HeldFiles::has_room() const {
  return open_ < kMostOpen;
}

HeldFiles::Held& HeldFiles::at(std::uint64_t object) {
  const auto [held, is_new] = held_.try_emplace(object);
  if (is_new) held->second.round = round_;
  ++open_;
  return held->second;
}

void HeldFiles::hold(std::uint64_t object, UniqueFd file) {
  (void)take(object);
  if (has_room()) at(object).file = std::move(file);
}

void HeldFiles::hold_copy(std::uint64_t object, UniqueFd copy) {
  if (has_room()) at(object).copies.push_back(std::move(copy));
}

UniqueFd HeldFiles::take(std::uint64_t object) {
  const auto held = held_.find(object);
  if (held == held_.end() || !held->second.file) return {};
  UniqueFd file = std::move(held->second.file);
  --open_;
  if (held->second.copies.empty()) held_.erase(held);
  return file;
}

std::vector<UniqueFd> HeldFiles::take_copies(std::uint64_t object) {
  const auto held = held_.find(object);
  if (held == held_.end()) return {};
  std::vector<UniqueFd> copies = std::exchange(held->second.copies, {});
  open_ -= copies.size();
  if (!held->second.file) held_.erase(held);
  return copies;
}

std::size_t HeldFiles::forget(std::uint64_t object) {
  const auto held = held_.find(object);
  if (held == held_.end()) return 0;
  const std::size_t copies = held->second.copies.size();
  open_ -= held->second.size();
  held_.erase(held);
  return copies;
}

std::size_t HeldFiles::close_old(MonotonicTime now) {
  if (now < next_round_) return 0;
  next_round_ = now + kRound;
  std::size_t copies = 0;
  std::erase_if(held_, [&](const auto& entry) {
    if (entry.second.round == round_) return false;
    open_ -= entry.second.size();
    copies += entry.second.copies.size();
    return true;
  });
  ++round_;
  return copies;
}

}  // namespace offcpud
