// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/share_owner.h"

namespace offcpud {

class ExaminedStack;

// Counts the memory of examined stacks and of their keys, by user, whoever keeps them. Must outlive
// the stacks. Used by one thread.
class StackRoom {
 public:
  // Counts a key of `bytes` as long as the object lives.
  class HeldKey {
   public:
    HeldKey(StackRoom& room, const ShareOwner& owner, std::size_t bytes);
    ~HeldKey() { room_.change(owner_, bytes_, 0); }
    HeldKey(const HeldKey&) = delete;
    HeldKey& operator=(const HeldKey&) = delete;

   private:
    StackRoom& room_;
    ShareOwner owner_;
    std::size_t bytes_;
  };

  StackRoom() = default;
  StackRoom(const StackRoom&) = delete;
  StackRoom& operator=(const StackRoom&) = delete;

  void add(ExaminedStack& stack);
  void remove(ExaminedStack& stack);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // The user who holds most; nobody: there are no stacks.
  [[nodiscard]] std::optional<ShareOwner> largest() const;
  // Takes the functions from stacks of this user until all stacks together hold no more than
  // `bytes`, or no stack of the user has functions left.
  void shrink(const ShareOwner& owner, std::size_t bytes);
  // Stacks that lost their functions, since the start.
  [[nodiscard]] std::uint64_t shrunk() const { return shrunk_; }

 private:
  struct Held {
    std::size_t bytes = 0;
    std::unordered_set<ExaminedStack*> with_texts;
  };
  void change(const ShareOwner& owner, std::size_t before, std::size_t now);

  std::map<ShareOwner, Held> users_;
  std::size_t bytes_ = 0;
  std::uint64_t shrunk_ = 0;
};

}  // namespace offcpud
