// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace offcpud {

// FNV-1a of 64 bits: a hash begins with kHashBasis, and each part is joined in turn. The parts are
// bytes, except in keys of hash tables, where whole words cost less.
inline constexpr std::uint64_t kHashBasis = 0xcbf29ce484222325;

constexpr std::uint64_t hash_joined(std::uint64_t hash, std::uint64_t part) {
  return (hash ^ part) * 0x100000001b3;
}

// The hash of a key that is a vector of words, for unordered_map.
struct WordsHash {
  template <class Words>
  std::size_t operator()(const Words& words) const {
    std::uint64_t hash = kHashBasis;
    for (const auto word : words) hash = hash_joined(hash, word);
    return hash;
  }
};

// Two numbers as one word of a key.
constexpr std::uint64_t word_of(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace offcpud
