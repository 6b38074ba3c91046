// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace offcpud {

// Names of places in the memory of processes: they tell whether two threads wait at one place, and
// nothing of where it is. Keyed with random numbers of the kernel, so that nobody can try all
// addresses, and different in each process, so that those of two programs that lie at the same
// address cannot be compared. Thread-safe.
class AddressNames {
 public:
  AddressNames();  // a key of its own

  // "#3f0c9a77b1e2"; "" if there were no random numbers.
  [[nodiscard]] std::string of(std::uint32_t tgid, std::uint64_t address) const;

 private:
  std::array<std::uint8_t, 32> key_{};
  bool keyed_ = false;
};

}  // namespace offcpud
