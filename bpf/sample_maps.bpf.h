/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps and settings of sampling. */
#ifndef OFFCPUD_SAMPLE_MAPS_BPF_H
#define OFFCPUD_SAMPLE_MAPS_BPF_H

#include "maps.bpf.h"
#include "sample.h"

/* The verifier wants a bound for each index and length; a mask is the cheapest. Behind each array
 * there is room for the largest index that its mask lets through, and for what is written there. */
#define SAMPLE_INDEX_MASK  255 /* index of a frame in a record */
#define WAKER_INDEX_MASK   63  /* index of a waker's frame, or their number */
#define SAMPLE_FRAMES_MASK 511 /* number of frames in a record */
OFFCPUD_ASSERT(2 * OFFCPUD_STACK_FRAMES <= SAMPLE_INDEX_MASK, "the waker's frames come behind");
OFFCPUD_ASSERT(2 * OFFCPUD_WAKER_FRAMES <= WAKER_INDEX_MASK, "two stacks of the waker");
OFFCPUD_ASSERT(OFFCPUD_SAMPLE_FRAMES <= SAMPLE_FRAMES_MASK, "all stacks");
OFFCPUD_ASSERT((OFFCPUD_STACK_FRAMES & (OFFCPUD_STACK_FRAMES + 1)) == 0, "it is a mask, too");
OFFCPUD_ASSERT((OFFCPUD_WAKER_FRAMES & (OFFCPUD_WAKER_FRAMES + 1)) == 0, "it is a mask, too");

/* The file for which the current thread made its system call when a chosen block ended; its inode
 * (both are addresses that are only compared); and the socket, if the file is one. */
struct peer_ender {
	__u64 file;
	__u64 inode;
	struct offcpud_socket socket;
	__u64 is_fuse; /* the file is /dev/fuse: the thread answers requests */
};

/* A chosen block, from its wakeup until its thread runs and adds its own stacks. */
struct chosen {
	struct offcpud_sample sample;
	struct offcpud_peer peer;
	struct peer_ender ender;
	struct offcpud_past past;
	__u64 waker[WAKER_INDEX_MASK + 1 + OFFCPUD_WAKER_FRAMES];
};

/* By tid. Pre-allocated, because insertions happen under the pi_lock of the task. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct chosen);
} chosen_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chosen);
} choosing SEC(".maps");

/* Rings by which a program interrupts its own CPU: a ring buffer wakes its readers by an interrupt
 * that the CPU sends to itself (irq_work). Their contents mean nothing. One for each possible CPU,
 * because an irq_work that is pending on one CPU is not queued on another. The daemon makes and
 * empties them (SelfInterrupts). */
struct self_interrupt_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Resized before load: possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, struct self_interrupt_ring);
} self_interrupts SEC(".maps");

struct sampling {
	struct offcpud_sample_record record;
	/* room up to the largest masked index */
	__u64 beyond[SAMPLE_INDEX_MASK + 1 + OFFCPUD_STACK_FRAMES - OFFCPUD_SAMPLE_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampling);
} sampling SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} samples SEC(".maps");

/* Which blocks are sampled: of these kinds (bits) and lengths, of these threads (bits:
 * OFFCPUD_SAMPLE_PROGRAMS and the next), and with one of these states at switch-out (TASK_*; 0:
 * any). */
__u32 sample_kinds SETTING = 0;
__u32 sample_threads SETTING = 0;
__u32 sample_states SETTING = 0;
__u64 sample_min_ns SETTING = 0;
__u64 sample_max_ns SETTING = 0;
/* By stratum, row after row. A block of length d is kept with probability min(1, d / interval) and
 * stands for max(d, interval), by the interval of that moment. So every sum over samples is
 * unbiased, whatever the lengths, and however intervals change. */
__u64 sample_intervals_ns[OFFCPUD_SAMPLE_STRATA] SETTING = {};
/* Targets, by number in the daemon's PID namespace, and their interval. It is used where it is
 * shorter than the stratum's, which would make the profile of one process coarse. */
__u64 target_interval_ns SETTING = 0;
__u32 targets[OFFCPUD_TARGETS] SETTING = {};
__u32 target_count SETTING = 0;
/* Whether walk_blocked also reports blocks that are too young to be counted. */
__u32 walk_young SETTING = 0;
/* What lost samples of chosen blocks stand for: the time that no walk has counted; and the whole
 * blocks, where their beginning was seen. */
__u64 samples_lost_ns = 0;
__u64 samples_lost_whole_ns = 0;

#endif
