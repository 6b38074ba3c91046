/* SPDX-License-Identifier: GPL-2.0-only */
/* What sample.bpf.h and blocked.bpf.h share with the daemon, and the room they work in. */
#ifndef OFFCPUD_SAMPLE_MAPS_BPF_H
#define OFFCPUD_SAMPLE_MAPS_BPF_H

#include "maps.bpf.h"
#include "sample.h"

/*
 * The verifier wants a bound for each index and length. A mask is the cheapest; behind each array
 * there is room for the largest index that its mask lets through, and what is written there.
 */
#define SAMPLE_INDEX_MASK  255 /* a frame in a record */
#define WAKER_INDEX_MASK   63  /* a frame of the waker, or how many there are */
#define SAMPLE_FRAMES_MASK 511 /* how many frames a record has */
OFFCPUD_ASSERT(2 * OFFCPUD_STACK_FRAMES <= SAMPLE_INDEX_MASK, "the waker's frames come behind");
OFFCPUD_ASSERT(2 * OFFCPUD_WAKER_FRAMES <= WAKER_INDEX_MASK, "two stacks of the waker");
OFFCPUD_ASSERT(OFFCPUD_SAMPLE_FRAMES <= SAMPLE_FRAMES_MASK, "all stacks");
OFFCPUD_ASSERT((OFFCPUD_STACK_FRAMES & (OFFCPUD_STACK_FRAMES + 1)) == 0, "it is a mask, too");
OFFCPUD_ASSERT((OFFCPUD_WAKER_FRAMES & (OFFCPUD_WAKER_FRAMES + 1)) == 0, "it is a mask, too");

/* A chosen block from its wakeup until the thread runs and adds its own stacks. */
struct chosen {
	struct offcpud_sample sample;
	__u64 waker[WAKER_INDEX_MASK + 1 + OFFCPUD_WAKER_FRAMES];
};

/* By tid. Pre-allocated, because an insertion happens under the task's pi_lock. */
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

/* What is put into them is nothing; that a ring buffer wakes its readers in an interrupt that it
 * sends to this CPU (irq_work) is what they are for. One per possible CPU, because one that is on
 * its way to a CPU is not sent to another. The daemon makes and empties them. */
struct bell_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Resized before load: possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, struct bell_map);
} bells SEC(".maps");

struct sampling {
	struct offcpud_sample_record record;
	/* where the largest index leads */
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

/* Blocks of these kinds (bits) and lengths are sampled, of these threads (OFFCPUD_SAMPLE_PROGRAMS
 * and the like) that left the CPU in one of these states (TASK_*; 0: whatever it was). */
__u32 sample_kinds SETTING = 0;
__u32 sample_threads SETTING = 0;
__u32 sample_states SETTING = 0;
__u64 sample_min_ns SETTING = 0;
__u64 sample_max_ns SETTING = 0;
/* A block of length d is kept with the probability min(1, d / interval) and stands for
 * max(d, interval), so every sum over samples is unbiased whatever the lengths. */
__u64 sample_interval_ns SETTING = 0;
/* The interval of these processes and threads, by their numbers in the daemon's PID namespace,
 * where it is the shorter one: a profile of one process would be coarse with that of the whole
 * host. */
__u64 focus_interval_ns SETTING = 0;
__u32 focuses[OFFCPUD_FOCUSES] SETTING = {};
__u32 focus_count SETTING = 0;
/* Whether the walk also tells of blocks that are too young to be credited. */
__u32 walk_young SETTING = 0;
/* Time that chosen blocks stand for whose sample could not be taken. */
__u64 samples_lost_ns = 0;

#endif
