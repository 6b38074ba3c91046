// SPDX-License-Identifier: Apache-2.0
// A separate file, because the 32-bit numbers have the same macro names as the 64-bit ones.
#include <asm/unistd_32.h>

#include "kernel/syscall_classes.h"

namespace offcpud {

SyscallClasses compat_syscall_classes() {
  struct Entry {
    unsigned number;
    offcpud_syscall_class what;
  };
  static constexpr Entry kEntries[] = {
#include "kernel/syscall_classes_common.inc"
      {__NR_waitpid, OFFCPUD_CLASS_CHILD},
      {__NR__newselect, OFFCPUD_CLASS_POLL},
      {__NR_sigsuspend, OFFCPUD_CLASS_POLL},
      {__NR_socketcall, OFFCPUD_CLASS_NETWORK},
      {__NR_fcntl64, OFFCPUD_CLASS_LOCK},
      {__NR_sendfile64, OFFCPUD_CLASS_FILE},
      {__NR_clock_nanosleep_time64, OFFCPUD_CLASS_SLEEP},
      {__NR_pselect6_time64, OFFCPUD_CLASS_POLL},
      {__NR_ppoll_time64, OFFCPUD_CLASS_POLL},
      {__NR_io_pgetevents_time64, OFFCPUD_CLASS_POLL},
      {__NR_recvmmsg_time64, OFFCPUD_CLASS_NETWORK},
      {__NR_rt_sigtimedwait_time64, OFFCPUD_CLASS_POLL},
      {__NR_futex_time64, OFFCPUD_CLASS_FUTEX},
      {__NR_semtimedop_time64, OFFCPUD_CLASS_CONDVAR},
  };
  SyscallClasses classes{};
  for (const Entry& entry : kEntries) classes.at(entry.number) = entry.what;
  return classes;
}

}  // namespace offcpud
