// SPDX-License-Identifier: Apache-2.0
#include <asm/unistd_64.h>

#include "kernel/syscall_classes.h"

namespace offcpud {

SyscallClasses native_syscall_classes() {
  struct Entry {
    unsigned number;
    offcpud_syscall_class what;
  };
  static constexpr Entry kEntries[] = {
#include "kernel/syscall_classes_common.inc"
      {__NR_accept, OFFCPUD_CLASS_NETWORK},
      {__NR_io_pgetevents, OFFCPUD_CLASS_POLL},
      {__NR_semop, OFFCPUD_CLASS_CONDVAR},
      {__NR_semtimedop, OFFCPUD_CLASS_CONDVAR},
  };
  SyscallClasses classes{};
  for (const Entry& entry : kEntries) classes.at(entry.number) = entry.what;
  return classes;
}

}  // namespace offcpud
