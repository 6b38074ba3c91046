// SPDX-License-Identifier: Apache-2.0
#include "sampler/stack_room.h"

#include <algorithm>

#include "sampler/examined_stack.h"

namespace offcpud {

StackRoom::HeldKey::HeldKey(StackRoom& room, const ShareOwner& owner, std::size_t bytes)
    : room_(room), owner_(owner), bytes_(bytes) {
  room_.change(owner_, 0, bytes_);
}

void StackRoom::add(ExaminedStack& stack) {
  change(stack.owner(), 0, stack.bytes());
  if (stack.has_texts()) users_[stack.owner()].with_texts.insert(&stack);
}

void StackRoom::remove(ExaminedStack& stack) {
  users_[stack.owner()].with_texts.erase(&stack);
  change(stack.owner(), stack.bytes(), 0);
}

void StackRoom::change(const ShareOwner& owner, std::size_t before, std::size_t now) {
  const auto user = users_.try_emplace(owner).first;
  user->second.bytes = user->second.bytes - before + now;
  bytes_ = bytes_ - before + now;
  if (user->second.bytes == 0) users_.erase(user);
}

std::optional<ShareOwner> StackRoom::largest() const {
  if (users_.empty()) return std::nullopt;
  return std::ranges::max_element(users_, {}, [](const auto& user) { return user.second.bytes; })
      ->first;
}

void StackRoom::shrink(const ShareOwner& owner, std::size_t bytes) {
  while (bytes_ > bytes) {
    const auto user = users_.find(owner);
    if (user == users_.end() || user->second.with_texts.empty()) return;
    ExaminedStack& stack = **user->second.with_texts.begin();
    remove(stack);
    stack.drop_texts();
    add(stack);
  }
}

}  // namespace offcpud
