// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "holders/lock_holder.h"

namespace offcpud {

// Who holds a lock of the C library, as the lock's own memory says. glibc's layouts on x86_64 are
// part of its ABI (sysdeps/x86/nptl/bits/struct_mutex.h and struct_rwlock.h). Whatever does not
// look exactly like a lock with a waiter has no owner: condition variables, semaphores, locks of
// other libraries and languages.

// The memory to read: kFutexBytes bytes, beginning kFutexBefore bytes before the futex word.
inline constexpr std::size_t kFutexBefore = 16, kFutexBytes = 48;

// Whether the owner of such a futex can be known; else there is no need to read memory.
bool may_have_owner(const offcpud_lock& lock);

// Whether it may be a robust mutex, for which the thread's robust list is needed.
bool may_be_robust(const offcpud_lock& lock);

struct FutexOwner {
  LockKind kind = LockKind::Mutex;
  std::uint32_t inner_tid = 0;  // in the PID namespace of its process
};

// `around`: what could be read, at most kFutexBytes. `robust_list`: what the thread's struct
// robust_list_head has (include/uapi/linux/futex.h), or empty.
std::optional<FutexOwner> futex_owner(const offcpud_lock& lock, std::span<const std::byte> around,
                                      std::span<const std::byte> robust_list);

// Whether readers hold the read-write lock for which a writer waits on such a futex. Its memory
// counts them, and names none.
bool held_by_readers(const offcpud_lock& lock, std::span<const std::byte> around);

}  // namespace offcpud
