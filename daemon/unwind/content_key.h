// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "elf/elf_object.h"

namespace offcpud {

// Identifies objects by the contents from which their tables are made. The key is a hash with a
// secret (SipHash-2-4 of J.-P. Aumasson and D. J. Bernstein, 2012). A build-id would not do,
// because it is only what a file claims: a copy of libc's must not decide how libc is unwound for
// everybody else.
class ContentKeys {
 public:
  static Result<ContentKeys> with_random_secret();

  [[nodiscard]] std::uint64_t key_of(const ElfObject& object) const;

 private:
  [[nodiscard]] std::uint64_t hash(Bytes bytes) const;

  std::array<std::uint64_t, 2> secret_{};
};

}  // namespace offcpud
