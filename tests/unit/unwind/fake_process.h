// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "unwind/remote_walk.h"
#include "unwind/unwind_rule.h"

namespace offcpud::test {

// A process of hand-made memory whose code has hand-made rules: function `n` is the 256 bytes from
// kCode + n * 256 on, and its rule holds for all of them.
class FakeProcess final : public StackMemory, public UnwindLookup {
 public:
  static constexpr std::uint64_t kCode = 0x7f0000400000, kCodeEnd = 0x7f0000500000;
  static constexpr std::uint64_t kLinkedAt = 0x1000;  // kCode in the ELF file
  static constexpr std::uint32_t kTgid = 4711, kObject = 3;

  void add_function(std::uint64_t function, const UnwindRule& rule) { rules_[function] = rule; }
  void put_word(std::uint64_t address, std::uint64_t word) { put(address, &word, sizeof(word)); }
  void put(std::uint64_t address, const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      memory_[address + i] = static_cast<const std::uint8_t*>(bytes)[i];
    }
  }

  RemoteStack walk(const UserRegisters& registers) {
    return walk_remote_stack(kTgid, registers, *this, *this);
  }

  bool read(std::uint64_t address, void* to, std::size_t size) override {
    for (std::size_t i = 0; i < size; ++i) {
      const auto found = memory_.find(address + i);
      if (found == memory_.end()) return false;
      static_cast<std::uint8_t*>(to)[i] = found->second;
    }
    return true;
  }
  [[nodiscard]] std::optional<Place> place(std::uint32_t tgid,
                                           std::uint64_t address) const override {
    if (tgid != kTgid || address < kCode || address >= kCodeEnd) return std::nullopt;
    return Place{kCode, kCodeEnd, kCode - kLinkedAt, kObject};
  }
  [[nodiscard]] offcpud_unwind_rule rule(std::uint32_t object,
                                         std::uint64_t address) const override {
    const auto found = rules_.find((address - kLinkedAt) / 256);
    return object != kObject || found == rules_.end() ? plain_rule(OFFCPUD_UNWIND_NO_FDE)
                                                      : found->second;
  }

 private:
  std::map<std::uint64_t, UnwindRule> rules_;
  std::map<std::uint64_t, std::uint8_t> memory_;
};

// In its stack.
inline constexpr std::uint64_t kStack = 0x7ffc00001000;

// An address in a function of it.
inline std::uint64_t in(std::uint64_t function, std::uint64_t offset = 0x50) {
  return FakeProcess::kCode + function * 256 + offset;
}

}  // namespace offcpud::test
