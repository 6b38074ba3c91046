// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace offcpud {

// A limit of memory shared by several owners on several threads.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes) : left_(bytes) {}

  // The part that one owner has taken, given back on destruction. Used by one thread at a time.
  class Share {
   public:
    Share() = default;
    explicit Share(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
    Share(Share&& other) noexcept
        : budget_(std::move(other.budget_)), taken_(std::exchange(other.taken_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      if (this == &other) return *this;
      give_back();
      budget_ = std::move(other.budget_);
      taken_ = std::exchange(other.taken_, 0);
      return *this;
    }
    ~Share() { give_back(); }

    // False: there is no room for this many more bytes.
    bool take(std::size_t bytes) {
      if (!budget_) return true;  // there is no limit
      std::size_t left = budget_->left_.load();
      do {
        if (left < bytes) return false;
      } while (!budget_->left_.compare_exchange_weak(left, left - bytes));
      taken_ += bytes;
      return true;
    }

    // Gives back a part of what was taken.
    void give_back(std::size_t bytes) {
      if (!budget_) return;
      taken_ -= bytes;
      budget_->left_ += bytes;
    }

    [[nodiscard]] std::size_t taken() const { return taken_; }

   private:
    void give_back() {
      if (budget_) budget_->left_ += std::exchange(taken_, 0);
    }

    std::shared_ptr<ByteBudget> budget_;
    std::size_t taken_ = 0;
  };

  [[nodiscard]] std::size_t left() const { return left_.load(); }

 private:
  std::atomic<std::size_t> left_;
};

}  // namespace offcpud
