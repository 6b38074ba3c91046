/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs know of a thread, and who may change it.
 *
 * Three parties act on a thread, possibly at the same time on different CPUs:
 *
 *	switch	sched_switch, on the CPU that the thread leaves or takes; holds that CPU's run-queue
 *		lock ("rq lock"). A thread is in one switch at a time.
 *	waker	sched_waking, on any CPU; holds the thread's pi_lock, so there is one at a time. The
 *		thread may still be running, or be in its switch-out. sched_wakeup_new, the first
 *		waking of a thread, holds both locks.
 *	walk	walk_threads and walk_blocked, on any CPU; hold no lock. A walk changes
 *		fields that are marked as its own, and others only by compare-and-swap (cmpxchg).
 *
 * The states, and every change of them; what is not listed does not happen:
 *
 *	from			to		by	when
 *	(no state)		UNKNOWN		any	the storage is made, all zero: at the fork
 *							(nobody runs the thread yet), by a walk, or
 *							at the first event (create_flags)
 *	UNKNOWN			FOUND_RUNNING	walk	cmpxchg: an event that comes first wins
 *	UNKNOWN			FOUND_WAITING	walk	the same
 *	UNKNOWN			DEAD		walk	the same; a zombie
 *	UNKNOWN, FOUND_WAITING	RUNNABLE	waker	a new thread is queued
 *	UNKNOWN			RUNNABLE	waker	it slept (task_was_asleep)
 *	FOUND_WAITING		RUNNABLE	waker	it slept when a walk found it
 *	BLOCKED			RUNNABLE	waker	a block of 1 ms or more ends
 *	BLOCKED			WOKEN		waker	a shorter block ends: accounted later
 *	any			RUNNING		switch	the thread takes a CPU
 *	any			RUNNABLE	switch	it leaves the CPU and stays queued
 *	any			BLOCKED		switch	it leaves the CPU and sleeps
 *	BLOCKED			RUNNABLE	switch	its waking was seen before it was BLOCKED
 *	WOKEN			BLOCKED		switch	a switch-in was not seen: for a moment, to
 *							account the block before anything else
 *	any			DEAD		switch	it leaves the CPU for the last time
 *
 * The table says "any" because an event may have been missed; an unexpected state is counted as a
 * loss. In states that the table does not list for a waker, the waker changes at most `waking`: as
 * far as the programs know, the thread is still on its CPU. The thread's switch-out looks at
 * `waking` (woken_too_early).
 *
 * Order: whoever changes `state` writes it last and with release; whoever acts on it reads it first
 * and with acquire. So all that belongs to a state is there when the state is seen. One change is
 * plain: from WOKEN back to BLOCKED within one switch, under the run-queue lock, where the block
 * ends at once.
 */
#ifndef OFFCPUD_THREAD_BPF_H
#define OFFCPUD_THREAD_BPF_H

#include "atomic.bpf.h"
#include "maps.bpf.h"
#include "sample.h"

/* In the FOUND states, a walk found the thread before its first event. */
enum thread_state {
	THREAD_UNKNOWN, /* until the first event or walk */
	THREAD_RUNNING,
	THREAD_RUNNABLE,
	THREAD_BLOCKED,
	THREAD_WOKEN, /* runnable since waking.ns; the block before that is not accounted yet */
	THREAD_DEAD,
	THREAD_FOUND_RUNNING,
	THREAD_FOUND_WAITING,
};

/* Whether the block that ended last is sampled. */
enum chosen_state {
	NOT_CHOSEN,
	IS_CHOSEN,
	STACKS_WANTED, /* the thread has taken a CPU, and an interrupt has been asked for */
};

/* Who had the CPU while a thread waited for it. */
struct taker {
	__u32 tid; /* 0: nobody so far */
	__u32 reserved;
	char comm[OFFCPUD_COMM]; /* empty: it had ended */
};

/* The last sched_waking, even if it found the thread running. Written by wakers; `waker` is cleared
 * by whoever accounts the block that the waking ended. */
struct thread_waking {
	__u64 ns;
	__u32 waker;	 /* enum offcpud_waker + 1; 0: the block that it ended is accounted */
	__u32 waker_tid; /* who was current; with OFFCPUD_PAST_INTERRUPT: an interrupt woke it */
};

/* Written by wakers; `chosen` also at the switch-in, in the thread's own interrupt, and at its last
 * switch-out. */
struct thread_sampling {
	__u32 random; /* see sampling_random(); 0: no number drawn yet */
	__u16 chosen; /* enum chosen_state */
	__u16 row;    /* see offcpud_sample_row(); 0: not noted yet */
};

/* Where the thread's time is accounted. */
struct thread_owner {
	__u32 subject; /* first shard in `subjects`; written by switch or waker */
	__u32 process; /* element of `processes`; 0: not looked up, NO_PROCESS: none; by cmpxchg */
	__u32 group_process; /* of a leader: `process` of its group's threads; by cmpxchg */
};

#define NO_PROCESS 0xffffffff

/* The block that began last. It stays until the next one begins. Written by the switch-out, before
 * the state. `ended_ns` and `ender` are written by whoever accounts the block, `counted_ns` also by
 * walk_blocked (cmpxchg) and by the waker (xchg). */
struct thread_block {
	__u64 counted_ns;      /* up to when walks have counted it; 0: none has */
	__u64 stale_waking_ns; /* waking.ns of a waking that was over when the thread blocked: it
				* does not end this block, whatever happens later */
	__u64 began_ns;	       /* 0: none has begun */
	__u64 ended_ns;	       /* before began_ns: it has not ended, or is not accounted yet */
	__u32 ender;	       /* waking.waker_tid of its end; 0: unknown */
	__u32 task_state;      /* TASK_* */
	__u32 skipped_ns;      /* time in blocks that past_keep() left out since it last kept one */
	__u16 past;	       /* how many blocks past_keep() has kept */
	__u8 kind;	       /* enum offcpud_hist_kind */
	__u8 idle;	       /* a kernel thread that waits for work */
};

/* Sums of all that has ended since born_ns. They add up to since_ns - born_ns, unless time is
 * missing. Written by switch or waker, like the state. */
struct thread_sums {
	__u64 born_ns; /* beginning of the first state that was seen to begin; 0: none */
	__u64 running_ns;
	__u64 waits_ns[OFFCPUD_HIST_KINDS];
	__u64 kept_off_ns[OFFCPUD_TAKERS];
};

/* The longest wait for a CPU so far. Written by the switch-in. */
struct thread_longest_wait {
	__u64 ns;
	struct taker taker;
};

/* What a walk found when it gave the thread a FOUND state. Written by walk_threads before the
 * state; the end of the block clears `asleep_ns`. */
struct thread_found {
	__u64 ns;	 /* when */
	__u64 asleep_ns; /* when it fell asleep, by the scheduler's account; 0: unknown */
	__u32 kind;
	__u32 idle;
	__u32 task_state;
	__u32 reserved;
};

/*
 * The task storage of a thread, freed with its task: neither the reuse of a PID nor a move to
 * another CPU affects it.
 *
 * The kernel puts a pointer before it and aligns both to a cache line (bpf_local_storage_data), so
 * the first line has 56 bytes of this struct, and each further line 64. A remote waking that ends a
 * short block writes the first line only; a switch writes the first two and what it adds to.
 */
struct thread {
	__u64 since_ns; /* when `state` began; WOKEN: when the block did */
	__u32 state;	/* enum thread_state */
	__u32 kind;	/* enum offcpud_hist_kind of the wait, or of the block if WOKEN */
	struct thread_waking waking;
	struct thread_sampling sampling;
	struct thread_owner owner;
	__u32 queued; /* past_queued() when `block` began; written by the switch-out */
	/* second line */
	struct thread_block block;
	struct thread_sums sums;
	/* Who had the CPU for most of the last wait that was noted: of OFFCPUD_NAMED_WAIT_NS, or
	 * longer than any before. */
	struct taker last_taker;
	struct thread_longest_wait longest_wait;
	/* From the sixth line on. A ring of the latest blocks before `block` that lasted at least
	 * OFFCPUD_PAST_LEAST_NS. Written by the switch-out; read when the thread wakes another one,
	 * and by interrupts on any CPU (past.bpf.h). */
	struct offcpud_past_block past[OFFCPUD_PAST_BLOCKS];
	struct thread_found found;
};

#define THREAD_LINE(n) ((n)*64 - 8) /* where the nth line begins; the first at 0 */
OFFCPUD_ASSERT(sizeof(struct thread_waking) == 16, "no padding");
OFFCPUD_ASSERT(sizeof(struct thread_sampling) == 8, "no padding");
OFFCPUD_ASSERT(sizeof(struct thread_owner) == 12, "no padding");
OFFCPUD_ASSERT(sizeof(struct thread_block) == 48, "no padding");
OFFCPUD_ASSERT(sizeof(struct thread_found) == 32, "no padding");
OFFCPUD_ASSERT(__builtin_offsetof(struct thread, block) == THREAD_LINE(1),
	       "what a waking writes is in the first line");
OFFCPUD_ASSERT(__builtin_offsetof(struct thread, sums.waits_ns) == THREAD_LINE(2),
	       "what every switch writes fills the second line");
OFFCPUD_ASSERT(__builtin_offsetof(struct thread, past) == THREAD_LINE(5),
	       "what every switch writes and what long blocks write are apart");
OFFCPUD_ASSERT(sizeof(struct thread) == 440, "one more line is 64 bytes for every thread");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* The thread that woke this one; 0: an interrupt did. */
static __always_inline __u32 waker_tid_of(const struct thread *thread)
{
	__u32 tid = thread->waking.waker_tid;

	return tid & OFFCPUD_PAST_INTERRUPT ? 0 : tid;
}

static __always_inline struct thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, create_flags);
}

#endif
