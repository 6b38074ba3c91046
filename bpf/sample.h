/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* Samples of blocks, as the programs hand them to the daemon: who waited for how long, and the
 * stacks of the waiter and of its waker. Fixed-width types without implicit padding. */
#ifndef OFFCPUD_SAMPLE_H
#define OFFCPUD_SAMPLE_H

#include "lock.h"
#include "offcpud.h"
#include "peer.h"
#include "unwind.h"
#include "waited.h"

/* The most frames of one stack (kernel.perf_event_max_stack). This and the next are powers of two
 * less one, because they are masks. */
#define OFFCPUD_STACK_FRAMES 127
#define OFFCPUD_WAKER_FRAMES 31 /* of each of the waker's stacks */

/* Walks count a block in progress, in parts, once it is twice this old. When a block of at least
 * this age ends, the program looks up what walks have counted of it. See block_count_part(). */
#define OFFCPUD_IN_PROGRESS_AGE_NS 200000000ULL

/* The threads whose blocks are sampled; bits. */
#define OFFCPUD_SAMPLE_PROGRAMS	      1
#define OFFCPUD_SAMPLE_KERNEL_THREADS 2

/* The most processes and threads that may be sampled more densely than others. */
#define OFFCPUD_TARGETS 8

/*
 * A stratum: the blocks of one reason in one row of processes. Each has a sampling interval of its
 * own, so that many threads that wait for one thing do not use up the stacks of those that wait for
 * another. A process always has the same row, so nothing has to be assigned, looked up or freed.
 * Both numbers are powers of two, because the programs mask indexes.
 */
#define OFFCPUD_SAMPLE_ROWS    64
#define OFFCPUD_SAMPLE_REASONS 16 /* room for every blocked kind */
#define OFFCPUD_SAMPLE_STRATA  (OFFCPUD_SAMPLE_ROWS * OFFCPUD_SAMPLE_REASONS)
OFFCPUD_ASSERT(OFFCPUD_BLOCKED_KINDS <= OFFCPUD_SAMPLE_REASONS, "each kind has a column");

/* Row 0 is nobody's: it says that no row of a thread is noted yet. */
#define OFFCPUD_ROW_OF_KERNEL_THREADS 1

/* The row of a process, by Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4), which
 * spreads numbers that follow one another evenly. */
static inline __attribute__((always_inline)) __u32 offcpud_sample_row(__u32 tgid, int kernel_thread)
{
	if (kernel_thread)
		return OFFCPUD_ROW_OF_KERNEL_THREADS;
	return 2 + ((tgid * 2654435769U >> 16) * (OFFCPUD_SAMPLE_ROWS - 2) >> 16);
}

/* Blocks of any length are sampled. */
#define OFFCPUD_SAMPLE_NO_MAXIMUM (~0ULL)

#define OFFCPUD_SAMPLE_IN_PROGRESS   1 /* a part of a block that has not ended */
#define OFFCPUD_SAMPLE_KERNEL_THREAD 2
#define OFFCPUD_SAMPLE_STACK_LATER   4	/* in progress: the user stack is walked from `regs` */
#define OFFCPUD_SAMPLE_YOUNG	     8	/* in progress and not counted: its end counts all of it */
#define OFFCPUD_SAMPLE_CENSORED	     16 /* its beginning was not seen: no histogram has it */

/* Whether a random number of 32 bits chooses a block shorter than the interval; the probability is
 * ns / interval. Compares random * interval / 2^32 with ns, in parts that do not overflow. The bits
 * of the product below 2^32 cannot matter, because ns is a whole number. */
static inline __attribute__((always_inline)) int offcpud_sample_chosen(__u64 ns, __u64 interval,
								       __u32 random)
{
	__u64 low = random * (interval & 0xffffffff);

	return random * (interval >> 32) + (low >> 32) < ns;
}

struct offcpud_sample {
	__u64 ns;	 /* the part of the block in this sample: up to the wakeup, or up to now */
	__u64 weight_ns; /* what that part stands for: ns * whole_ns / length of the block */
	__u64 whole_ns;	 /* what the whole block stands for: max(its length, interval of the
			  * stratum); in progress: 0 */
	__u64 since_ns;	 /* CLOCK_MONOTONIC, beginning of the block */
	__u64 ended_ns;	 /* the wakeup, or now */
	__u64 asleep_ns; /* CENSORED and in progress: when it fell asleep, by the scheduler's
			  * account; before since_ns; 0: unknown */
	__u64 cgroup_id;
	__u64 process_start_ns; /* CLOCK_BOOTTIME; with tgid the identity of the process */
	__u32 tid;
	__u32 tgid;
	__u32 local_tid; /* this and the next: in the daemon's PID namespace; 0: not there */
	__u32 local_tgid;
	__u32 flags;	  /* OFFCPUD_SAMPLE_* */
	__u32 kind;	  /* enum offcpud_hist_kind */
	__u32 task_state; /* at switch-out, TASK_* of the kernel; 0: not known */
	__u32 waker;	  /* enum offcpud_waker; OFFCPUD_WAKERS: not known */
	__u32 waker_tid;  /* 0: an interrupt */
	__u32 waker_tgid;
	__u32 waker_local_tgid;
	__u32 user_end;	 /* enum offcpud_unwind_end */
	__u32 waited_on; /* OFFCPUD_ON_* */
	__u32 parent_tgid;
	__u32 holder_tgid; /* a process that can write to the pipe that the thread reads */
	__u32 reserved;
	__u16 kernel_frames;
	__u16 user_frames;
	__u16 waker_kernel_frames;
	__u16 waker_user_frames;
	char comm[OFFCPUD_COMM];
	char process_comm[OFFCPUD_COMM];
	char waker_comm[OFFCPUD_COMM];
};
OFFCPUD_ASSERT(sizeof(struct offcpud_sample) == 184, "the layout has no padding");

/* An earlier block of a thread. All times except `ended_ns` are in units of 1,024 ns. */
struct offcpud_past_block {
	__u64 ended_ns; /* CLOCK_MONOTONIC, the wakeup; 0: there is no block */
	__u32 length;	/* rounded down; from 73 minutes on: all ones */
	__u32 skipped;	/* time in blocks too short to be kept, since the block before this one */
	/* The thread that was current when it ended (PID_MAX_LIMIT in include/linux/threads.h is
	 * 2^22), OFFCPUD_PAST_INTERRUPT, and enum offcpud_hist_kind << OFFCPUD_PAST_KIND. */
	__u32 who;
	__u32 queued; /* how long the thread had waited for a CPU when it began, modulo 2^32 */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_past_block) == 24, "no padding");
#define OFFCPUD_PAST_TID       0x7fffffU
#define OFFCPUD_PAST_INTERRUPT 0x800000U /* an interrupt ended it, whatever thread was current */
#define OFFCPUD_PAST_KIND      24	 /* bits of `who` to shift out */
#define OFFCPUD_PAST_UNIT      10	 /* log2 of the unit in nanoseconds */
#define OFFCPUD_PAST_LEAST_NS  20000	 /* shorter blocks are not kept, except the last one */
#define OFFCPUD_PAST_BLOCKS    4	 /* blocks that are kept; a power of two */

/* What a thread did before it ended another one's block: its own last blocks, in no order. After
 * them it ran, or waited for a CPU, until `until_ns`; `queued` and `skipped` mean the same as in a
 * block that begins then. */
struct offcpud_past {
	__u32 tid; /* 0: nothing is known */
	__u32 tgid;
	__u64 until_ns; /* CLOCK_MONOTONIC */
	__u32 queued;
	__u32 skipped;
	struct offcpud_past_block blocks[OFFCPUD_PAST_BLOCKS + 1]; /* the kept ones, and the last */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_past) == 144, "no padding");

/* The threads whose past a record has; each waited for the next one. */
#define OFFCPUD_PAST_HOPS 3

/* The addresses of four stacks, one right behind the other: the kernel stack, the user stack, and
 * the waker's kernel and user stacks. Each is innermost first. */
#define OFFCPUD_SAMPLE_FRAMES (2 * OFFCPUD_STACK_FRAMES + 2 * OFFCPUD_WAKER_FRAMES)

/* Record of the ring `samples`. It ends with its last frame. */
struct offcpud_sample_record {
	struct offcpud_sample sample;
	struct offcpud_peer peer;
	/* First the past of the thread `peer.tid`, then that of the thread that ended the longest
	 * of these blocks within the sampled one, and so on. */
	struct offcpud_past past[OFFCPUD_PAST_HOPS];
	__u64 frames[OFFCPUD_SAMPLE_FRAMES];
};

/* How many addresses are named at once, and the longest name. KSYM_NAME_LEN is 512, but more than a
 * line of a name is of no use. */
#define OFFCPUD_NAMES	   64
#define OFFCPUD_NAME_BYTES 128

/* User registers of a thread that is blocked in a system call. */
struct offcpud_user_regs {
	__u64 ip, sp, bp, di;
};

/* Record of the walk over blocked threads, always of this size. */
struct offcpud_blocked_record {
	struct offcpud_sample sample;
	struct offcpud_peer peer;
	struct offcpud_lock lock;
	struct offcpud_user_regs regs;
	__u64 thread_pointer; /* base of fs: the address of the C library's record of the thread */
	__u64 kernel[OFFCPUD_STACK_FRAMES];
};

#endif
