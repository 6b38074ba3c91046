// SPDX-License-Identifier: Apache-2.0
// The kinds of stack_zoo: each waits once for `ns`, deep inside of something.
#pragma once

#include <cstdint>

namespace stack_zoo {

struct Kind {
  const char* name;
  void (*wait)(std::int64_t ns);
};

extern const Kind kKinds[];
extern const int kKindCount;

}  // namespace stack_zoo
