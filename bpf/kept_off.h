/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* Who kept the threads of a cgroup off the CPU: what the kernel programs share with the daemon. */
#ifndef OFFCPUD_KEPT_OFF_H
#define OFFCPUD_KEPT_OFF_H

#include "offcpud.h"

/* Sums that are kept besides those by cgroup. */
enum offcpud_kept_off {
	OFFCPUD_KEPT_OFF_SAME,	  /* threads of the same cgroup had the CPU */
	OFFCPUD_KEPT_OFF_KERNEL,  /* kernel threads had it */
	OFFCPUD_KEPT_OFF_IDLE,	  /* nobody had it: it was being woken up */
	OFFCPUD_KEPT_OFF_OTHER,	  /* cgroups without room here or in `subjects` had it */
	OFFCPUD_KEPT_OFF_UNKNOWN, /* it is too long ago to know */
	OFFCPUD_KEPT_OFF_SUMS,
};

/* In place of the id of the cgroup that had the CPU: the complement of one of the above. */
#define OFFCPUD_TAKEN_BY_SAME	 (~(__u64)OFFCPUD_KEPT_OFF_SAME) /* the daemon only */
#define OFFCPUD_TAKEN_BY_KERNEL	 (~(__u64)OFFCPUD_KEPT_OFF_KERNEL)
#define OFFCPUD_TAKEN_BY_IDLE	 (~(__u64)OFFCPUD_KEPT_OFF_IDLE)
#define OFFCPUD_TAKEN_BY_OTHER	 (~(__u64)OFFCPUD_KEPT_OFF_OTHER)
#define OFFCPUD_TAKEN_BY_UNKNOWN (~(__u64)OFFCPUD_KEPT_OFF_UNKNOWN)

/* For how long another cgroup had the CPU. */
struct offcpud_taker_time {
	__u64 cgroup_id; /* 0: nobody's */
	__u64 ns;
};

#define OFFCPUD_TAKER_PLACES  64 /* a power of two */
#define OFFCPUD_TAKER_WINDOWS 2	 /* a power of two */

/*
 * For how long others had the CPU while threads of a cgroup waited for it. Throttled threads are
 * left out, so the sum of all equals that of the cgroup's histograms OFFCPUD_RUNQ_WAKEUP and
 * OFFCPUD_RUNQ_PREEMPTED. Value of the array `kept_off`, whose element i is for element i of
 * `subjects`.
 */
struct offcpud_kept_off_times {
	__u64 sums_ns[OFFCPUD_KEPT_OFF_SUMS];
	__u64 refused; /* additions to OTHER for want of a place */
	__u64 reserved[2];
	/* The programs add to one window. The daemon empties the other one, so that those who had
	 * the CPU long ago make room. The places are this cgroup's alone: others' takers cannot
	 * fill them. */
	struct offcpud_taker_time takers[OFFCPUD_TAKER_WINDOWS][OFFCPUD_TAKER_PLACES];
};
OFFCPUD_ASSERT(sizeof(struct offcpud_kept_off_times) ==
		       64 + OFFCPUD_TAKER_WINDOWS * OFFCPUD_TAKER_PLACES * 16,
	       "the layout has no padding");

#endif
