// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_turns.h"

namespace offcpud {

bool ObjectTurns::push(std::uint64_t object, const ShareOwner& user) {
  const auto [place, is_new] = places_.try_emplace(object, Place{user, last_turn_ + 1});
  if (!is_new) return false;
  ++last_turn_;
  // A new user comes after those who wait.
  const auto waiting = users_.try_emplace(user, Waiting{.objects = {}, .served = last_turn_}).first;
  waiting->second.objects.emplace(last_turn_, object);
  return true;
}

std::optional<ObjectTurns::Turn> ObjectTurns::pop(const May& may) {
  auto next = users_.end();
  for (auto user = users_.begin(); user != users_.end(); ++user) {
    const bool is_before = next == users_.end() || user->second.served < next->second.served;
    if (is_before && may(user->first)) next = user;
  }
  if (next == users_.end()) return std::nullopt;
  next->second.served = ++last_turn_;
  const Turn turn{.object = next->second.objects.begin()->second, .user = next->first};
  erase(turn.object);
  return turn;
}

void ObjectTurns::erase(std::uint64_t object) {
  const auto place = places_.find(object);
  if (place == places_.end()) return;
  const auto user = users_.find(place->second.user);
  user->second.objects.erase(place->second.turn);
  if (user->second.objects.empty()) users_.erase(user);
  places_.erase(place);
}

}  // namespace offcpud
