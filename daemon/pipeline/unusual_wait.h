// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace offcpud {

struct Stall;
struct UsualWaits;

// A wait of which nobody can tell what it is for, far longer than is usual at its place, while its
// unit has work to do. Neither is null. The stall is in progress and not told.
struct UnusualWait {
  std::shared_ptr<const Stall> stall;
  std::shared_ptr<const UsualWaits> usual;
};

}  // namespace offcpud
