/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* What unwind_probe tells: a thread was off the CPU, and this is its stack. */
#ifndef OFFCPUD_UNWIND_SAMPLE_H
#define OFFCPUD_UNWIND_SAMPLE_H

#include "unwind.h"

struct unwind_probe_sample {
  __u32 tgid;
  __u32 tid;
  __u64 walk_ns; /* what the walk took */
  struct offcpud_unwind_stack stack;
};

#endif
