/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/*
 * A sampled block, as the programs hand it to the daemon: who waited for how long, and the stacks
 * of the waiter and of its waker. Fixed-width types, no implicit padding.
 */
#ifndef OFFCPUD_SAMPLE_H
#define OFFCPUD_SAMPLE_H

#include "offcpud.h"

#define OFFCPUD_STACK_FRAMES 127 /* of one stack, at most: kernel.perf_event_max_stack */
#define OFFCPUD_WAKER_FRAMES 32

struct offcpud_sample {
	__u64 ns;	 /* length of the block, until the wakeup */
	__u64 weight_ns; /* what it stands for: max(ns, sampling interval) */
	__u64 ended_ns;	 /* CLOCK_MONOTONIC, the wakeup */
	__u64 cgroup_id;
	__u64 process_start_ns; /* CLOCK_BOOTTIME; with tgid the identity of the process */
	__u32 tid;
	__u32 tgid;
	__u32 kind;	 /* enum offcpud_hist_kind */
	__u32 waker;	 /* enum offcpud_waker */
	__u32 waker_tid; /* 0: an interrupt */
	__u32 kernel_frames;
	__u32 user_frames;
	__u32 waker_frames;
	__u32 user_end; /* why the walk up the user stack ended */
	__u32 reserved;
	char comm[OFFCPUD_COMM];
	char waker_comm[OFFCPUD_COMM];
};
OFFCPUD_ASSERT(sizeof(struct offcpud_sample) == 112, "the layout has no padding");

/* Record of the ring `samples`. Frames are addresses of instructions, innermost first. */
struct offcpud_sample_record {
	struct offcpud_sample sample;
	__u64 kernel[OFFCPUD_STACK_FRAMES];
	__u64 user[OFFCPUD_STACK_FRAMES];
	__u64 waker[OFFCPUD_WAKER_FRAMES]; /* in the kernel */
};

#endif
