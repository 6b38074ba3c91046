/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* What store_bench tells its programs and hears from them: argument of BPF_PROG_TEST_RUN. */
#ifndef OFFCPUD_STORE_BENCH_H
#define OFFCPUD_STORE_BENCH_H

#include <linux/types.h>

struct store_bench_run {
  __u32 events;  /* how many times to add */
  __u32 pause;   /* readings of the clock between two adds */
  __u32 subject; /* whose histograms are added to: 0 or 1 */
  __u32 reserved;
  __u64 ns; /* answer: how long all of it took */
};

#endif
