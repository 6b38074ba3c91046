// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "holders/lock_holder.h"
#include "lock.h"
#include "peers/peer_of.h"

namespace offcpud {

// A thread that the kernel found, as the holder of a lock.
inline LockHolder holder_of(const offcpud_owner& owner, LockKind kind) {
  LockHolder holder{.kind = kind,
                    .tid = owner.tid,
                    .local_tid = owner.local_tid,
                    .process = process_of(owner.process)};
  std::ranges::copy(owner.comm, holder.comm.begin());
  return holder;
}

}  // namespace offcpud
