/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last blocks of each thread. They say what a thread did while another one waited for it.
 *
 * Samples say that only if both the wait and the blocks of the thread that ended it are sampled.
 * Blocks much shorter than the sampling interval rarely are. So each thread remembers its last
 * blocks (thread.block, thread.past). The record of a chosen block contains those of the thread
 * that was current at its end, those of the thread that ended the longest of these, and so on.
 *
 * A block is kept when its thread blocks again, because its length is known then. Very short blocks
 * are only added up, so most switches write no further cache line.
 *
 * Between its blocks a thread runs or waits for a CPU. To tell the two apart, each block has how
 * long the thread had waited for a CPU when it began, in all. The difference between two blocks is
 * the wait in between, whatever short blocks lie there.
 */
#ifndef OFFCPUD_PAST_BPF_H
#define OFFCPUD_PAST_BPF_H

#include "sample_maps.bpf.h"
#include "thread.bpf.h"

/* kernel/bpf/helpers.c, since 6.2. `pid` is a number in the initial PID namespace. */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
#define bpf_task_from_pid(pid) CHECKED(bpf_task_from_pid(pid))

/* Notes the end of the block that is accounted now, and which thread was current at the waking. If
 * no waking was noted, nobody is known. */
static __always_inline void past_note_end(struct thread *thread, __u64 now)
{
	thread->block.ender = thread->waking.waker ? thread->waking.waker_tid : 0;
	WRITE_ONCE(thread->block.ended_ns, now);
}

static __always_inline __u32 past_units(__u64 ns)
{
	ns >>= OFFCPUD_PAST_UNIT;
	return ns < ~0U ? ns : ~0U;
}

/* How long the thread has waited for a CPU so far, in units, modulo 2^32: for differences only. */
static __always_inline __u32 past_queued(const struct thread *thread)
{
	__u64 ns = READ_ONCE(thread->sums.waits_ns[OFFCPUD_RUNQ_WAKEUP]) +
		   READ_ONCE(thread->sums.waits_ns[OFFCPUD_RUNQ_PREEMPTED]) +
		   READ_ONCE(thread->sums.waits_ns[OFFCPUD_RUNQ_THROTTLED]);

	return ns >> OFFCPUD_PAST_UNIT;
}

/* The time in blocks that are not kept, in units, rounded up. */
static __always_inline __u32 past_skipped(const struct thread *thread)
{
	return past_units(READ_ONCE(thread->block.skipped_ns) + (1 << OFFCPUD_PAST_UNIT) - 1);
}

/* Returns the last block; an empty one if there is none, or if it has not ended. */
static __always_inline struct offcpud_past_block past_last(const struct thread *thread)
{
	__u64 began_ns = READ_ONCE(thread->block.began_ns);
	__u64 ended_ns = READ_ONCE(thread->block.ended_ns);
	struct offcpud_past_block last = {};

	if (!began_ns || (__s64)(ended_ns - began_ns) < 0)
		return last;
	last.ended_ns = ended_ns;
	last.length = past_units(ended_ns - began_ns);
	last.skipped = past_skipped(thread);
	last.who = (thread->block.ender & (OFFCPUD_PAST_TID | OFFCPUD_PAST_INTERRUPT)) |
		   (__u32)thread->block.kind << OFFCPUD_PAST_KIND;
	last.queued = READ_ONCE(thread->queued);
	return last;
}

/* Keeps the last block in place of the oldest one. Pairs with past_of_other(). `skipped_ns` stays
 * until the next block has begun: until then the kept block is also the last one. */
SUBPROGRAM int past_push(struct thread *thread)
{
	__u16 count = thread->block.past;

	thread->past[count & (OFFCPUD_PAST_BLOCKS - 1)] = past_last(thread);
	smp_store_release(&thread->block.past, (__u16)(count + 1));
	return 0;
}

/* Keeps the last block of a thread that blocks again. Call it at the switch-out, before anything of
 * the new block is written, and past_begin() once the beginning is. Returns whether the block was
 * kept. */
static __always_inline bool past_keep(struct thread *thread)
{
	__u64 began_ns = thread->block.began_ns;
	__s64 length = thread->block.ended_ns - began_ns;
	__u32 skipped_ns;

	if (!take_samples || !tell_wakers || !began_ns || length < 0)
		return false;
	if (length >= OFFCPUD_PAST_LEAST_NS) {
		past_push(thread);
		return true;
	}
	skipped_ns = thread->block.skipped_ns + (__u32)length;
	if (skipped_ns >= (__u32)length) /* else the sum would overflow: it stays at some 4 s */
		thread->block.skipped_ns = skipped_ns;
	return false;
}

/* Call it once the beginning of the new block is written: whoever sees what this writes then sees
 * the beginning, too, and past_of_other() tells nothing. `kept`: what past_keep() returned. */
static __always_inline void past_begin(struct thread *thread, bool kept)
{
	if (take_samples && tell_wakers)
		smp_store_release(&thread->queued, past_queued(thread));
	if (kept)
		smp_store_release(&thread->block.skipped_ns, 0);
}

/* Copies the blocks of a thread that has been in `state` since `since_ns`, and says how long it
 * waited for a CPU after the last one: until now if it runs, else until it began to wait. If it
 * takes a CPU at this very moment, it may have added that wait already: then some of the time
 * before counts as a wait for a CPU, but never more than there is (PastBlock::queued_ns). */
static __always_inline void past_copy(struct offcpud_past *past, struct task_struct *task,
				      const struct thread *thread, __u32 state, __u64 since_ns)
{
	struct offcpud_past_block *last = &past->blocks[OFFCPUD_PAST_BLOCKS];

	past->tid = task->pid;
	past->tgid = task->tgid;
	__builtin_memcpy(past->blocks, thread->past, sizeof(thread->past));
	*last = past_last(thread);
	if (last->ended_ns) {
		past->until_ns = state == THREAD_RUNNING ? bpf_ktime_get_ns() : since_ns;
		past->queued = past_queued(thread);
		past->skipped = 0;
	} else {
		past->until_ns = READ_ONCE(thread->block.began_ns);
		past->queued = READ_ONCE(thread->queued);
		past->skipped = past_skipped(thread);
	}
}

static __always_inline void past_of_current(struct offcpud_past *past, struct task_struct *task)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (thread && thread->state == THREAD_RUNNING)
		past_copy(past, task, thread, THREAD_RUNNING, thread->since_ns);
}

/* Copies the blocks of a thread that may run meanwhile. Leaves out the oldest kept one, which the
 * thread may be replacing. Sets `tid` to 0 if the thread has begun or kept a block meanwhile. */
static __always_inline void past_of_other(struct offcpud_past *past, struct task_struct *task)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 began_ns, since_ns;
	__u32 state;
	__u16 count;

	if (!thread)
		return;
	count = smp_load_acquire(&thread->block.past);
	began_ns = READ_ONCE(thread->block.began_ns);
	state = READ_ONCE(thread->state);
	since_ns = READ_ONCE(thread->since_ns);
	smp_rmb();
	past_copy(past, task, thread, state, since_ns);
	past->blocks[count & (OFFCPUD_PAST_BLOCKS - 1)].ended_ns = 0;
	smp_rmb();
	if (READ_ONCE(thread->block.past) != count || READ_ONCE(thread->block.began_ns) != began_ns)
		past->tid = 0;
}

/* An interval, and the thread that ended it; 0: not known. */
struct past_part {
	__u64 since_ns, until_ns;
	__u32 tid;
	__u32 unused;
};

/* Narrows the interval to the longest block that ends in it, and notes the thread that ended that
 * block. */
static __always_inline void past_narrow(struct past_part *part, const struct offcpud_past *past)
{
	__u64 since_ns = part->since_ns, until_ns = part->until_ns, longest = 0;

	part->tid = 0;
	for (int i = 0; i < OFFCPUD_PAST_BLOCKS + 1; i++) {
		const struct offcpud_past_block *block = &past->blocks[i];
		__u64 ended_ns = block->ended_ns;
		__u64 began_ns = ended_ns - ((__u64)block->length << OFFCPUD_PAST_UNIT);

		if (!ended_ns || ended_ns > until_ns)
			continue;
		if (began_ns < since_ns)
			began_ns = since_ns;
		if ((__s64)(ended_ns - began_ns) <= (__s64)longest)
			continue;
		longest = ended_ns - began_ns;
		part->since_ns = began_ns;
		part->until_ns = ended_ns;
		part->tid = block->who & OFFCPUD_PAST_TID;
	}
}

/* Fills in the past of the threads that waited for one another. That of the first was copied at the
 * wakeup; the others are looked up now. */
SUBPROGRAM int past_follow(struct offcpud_sample_record *record, struct chosen *chosen)
{
	struct past_part part = {.since_ns = chosen->sample.since_ns,
				 .until_ns = chosen->sample.ended_ns};

	record->past[0] = chosen->past;
	for (int hop = 1; hop < OFFCPUD_PAST_HOPS; hop++) {
		const struct offcpud_past *before = &record->past[hop - 1];
		struct task_struct *task;

		__builtin_memset(&record->past[hop], 0, sizeof(record->past[hop]));
		part.tid = 0;
		if (before->tid)
			past_narrow(&part, before);
		if (!part.tid || !find_tasks)
			continue;
		task = bpf_task_from_pid(part.tid);
		if (!task)
			continue;
		past_of_other(&record->past[hop], task);
		bpf_task_release(task);
	}
	return 0;
}

#endif
