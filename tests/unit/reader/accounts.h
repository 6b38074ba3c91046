// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reader/wait_ledger.h"

namespace offcpud::test {

// Two users, of whom one may be up to no good.
inline constexpr Account kMallory = 1000, kAlice = 1001;

}  // namespace offcpud::test
