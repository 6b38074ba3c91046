// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace offcpud {

// A cache of two generations, each of at most half of `bytes`. When the new one is full, it becomes
// the old one, and the former old one is forgotten, except entries that were asked for meanwhile.
// Owned by one thread.
template <class Key, class Value, class Hash = std::hash<Key>>
class TwoGenerations {
  using Entries = std::unordered_map<Key, Value, Hash>;

 public:
  // The bytes that an entry takes, without what its key and value have on the heap.
  static constexpr std::size_t kNode = sizeof(typename Entries::value_type) + 2 * sizeof(void*);

  explicit TwoGenerations(std::size_t bytes) : half_(bytes / 2) {}

  // Null: it is not here. Valid until the next call. `bytes_of`: what an entry takes, with kNode.
  template <class BytesOf>
  const Value* find(const Key& key, const BytesOf& bytes_of) {
    if (const auto young = young_.find(key); young != young_.end()) return &young->second;
    const auto old = old_.find(key);
    if (old == old_.end()) return nullptr;
    Value value = std::move(old->second);
    old_.erase(old);  // its bytes count until its generation is dropped
    const std::size_t bytes = bytes_of(key, value);
    return &put(key, std::move(value), bytes);
  }

  // The key must not be in the new generation; call find() first. Valid until the next call.
  const Value& put(Key key, Value value, std::size_t bytes) {
    if (young_bytes_ + bytes > half_) {
      old_ = std::exchange(young_, {});
      old_bytes_ = std::exchange(young_bytes_, 0);
    }
    young_bytes_ += bytes;
    return young_.emplace(std::move(key), std::move(value)).first->second;
  }

  [[nodiscard]] std::size_t bytes() const { return young_bytes_ + old_bytes_; }

 private:
  std::size_t half_;
  Entries young_;
  Entries old_;
  std::size_t young_bytes_ = 0;
  std::size_t old_bytes_ = 0;
};

}  // namespace offcpud
