// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "elf/elf_object.h"

namespace offcpud {

// Tells objects apart by what their tables are made from. Keyed with a secret (SipHash-2-4 of
// J.-P. Aumasson and D. J. Bernstein, 2012), because a build-id is only what a file says about
// itself: whoever copies that of libc must not get to say how libc is unwound for everybody else.
class ContentKeys {
 public:
  static Result<ContentKeys> with_random_secret();

  [[nodiscard]] std::uint64_t key_of(const ElfObject& object) const;

 private:
  [[nodiscard]] std::uint64_t hash(Bytes bytes) const;

  std::array<std::uint64_t, 2> secret_{};
};

}  // namespace offcpud
