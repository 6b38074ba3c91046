// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace offcpud {

// Names for addresses in the memory of processes. Threads that wait at one address get one name;
// the name does not reveal the address. Names are keyed with random numbers from the kernel, so
// nobody can find an address by trying all, and they differ between processes, so equal addresses
// of two programs cannot be recognized. Thread-safe.
class AddressNames {
 public:
  AddressNames();  // draws a random key

  // Such as "#3f0c9a77b1e2"; empty if the kernel gave no random numbers.
  [[nodiscard]] std::string of(std::uint32_t tgid, std::uint64_t address) const;

 private:
  std::array<std::uint8_t, 32> key_{};
  bool keyed_ = false;
};

}  // namespace offcpud
