// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/share_owner.h"

namespace offcpud {

class ExaminedStack;

// What examined stacks and the keys by which they are found hold, by user, whoever keeps them. Used
// by one thread; it outlives the stacks.
class StackRoom {
 public:
  // A key of this length, as long as the object lives.
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
  // Stacks of this user lose their functions until all that is held is no more than `bytes`, or
  // none of his is left that could.
  void shrink(const ShareOwner& owner, std::size_t bytes);

 private:
  struct Held {
    std::size_t bytes = 0;
    std::unordered_set<ExaminedStack*> with_texts;
  };
  void change(const ShareOwner& owner, std::size_t before, std::size_t now);

  std::map<ShareOwner, Held> users_;
  std::size_t bytes_ = 0;
};

}  // namespace offcpud
