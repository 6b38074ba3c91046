/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blocks that a thread has behind it: what it did while another one waited for it.
 *
 * Without them, both a wait and the waits of whoever ended it would have to be sampled, and of waits
 * much shorter than the sampling interval few pairs are. So each thread remembers its last blocks,
 * and a chosen block takes those of the thread that is current at its end. The next switch-out keeps
 * a block, when its length is known and what says so is at hand; blocks too short to matter write
 * nothing but their own line.
 */
#ifndef OFFCPUD_PAST_BPF_H
#define OFFCPUD_PAST_BPF_H

#include "sample_maps.bpf.h"
#include "thread.bpf.h"

/* kernel/bpf/helpers.c; since 6.2. By the number in the first PID namespace. */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* The last block of a thread that runs. A waking that found it running has replaced the one that
 * ended the block; then it is taken to end when the thread took the CPU, by nobody. Of a thread that
 * does not run it is worth nothing, and ends when the block that lasts began, or later. */
static __always_inline struct offcpud_past_block past_last(const struct thread *thread)
{
	__u64 began_ns = READ_ONCE(thread->block.began_ns), since_ns, length;
	struct offcpud_past_block last = {};

	if (!began_ns)
		return last;
	since_ns = READ_ONCE(thread->since_ns);
	last.ended_ns = READ_ONCE(thread->waking.ns);
	last.who = READ_ONCE(thread->waking.waker_tid) & OFFCPUD_PAST_TID;
	if ((__s64)(since_ns - last.ended_ns) < 0 || (__s64)(last.ended_ns - began_ns) < 0) {
		last.ended_ns = since_ns;
		last.who = 0;
	}
	if ((__s64)(last.ended_ns - began_ns) < 0)
		last.ended_ns = began_ns;
	last.who |= thread->block.kind << OFFCPUD_PAST_KIND;
	length = (last.ended_ns - began_ns) >> OFFCPUD_PAST_UNIT;
	last.length = length < ~0U ? length : ~0U;
	return last;
}

/* Pairs with past_of_other(). */
SUBPROGRAM int past_push(struct thread *thread)
{
	__u32 count = thread->block.past;

	thread->past[count & (OFFCPUD_PAST_BLOCKS - 1)] = past_last(thread);
	smp_store_release(&thread->block.past, count + 1);
	return 0;
}

/* At the switch-out of a thread that blocks again, before anything of the new block is written. */
static __always_inline void past_keep(struct thread *thread)
{
	if (take_samples && tell_wakers && thread->block.began_ns &&
	    thread->waking.ns - thread->block.began_ns >= OFFCPUD_PAST_LEAST_NS)
		past_push(thread);
}

static __always_inline void past_copy(struct offcpud_past *past, struct task_struct *task,
				      const struct thread *thread)
{
	past->tid = task->pid;
	past->tgid = task->tgid;
	__builtin_memcpy(past->blocks, thread->past, sizeof(thread->past));
	past->blocks[OFFCPUD_PAST_BLOCKS] = past_last(thread);
}

static __always_inline void past_of_current(struct offcpud_past *past, struct task_struct *task)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (thread && thread->state == THREAD_RUNNING)
		past_copy(past, task, thread);
}

/* Of a thread that may block and run meanwhile: without the oldest block, which it may be
 * replacing, and nothing if it has kept another one. */
static __always_inline void past_of_other(struct offcpud_past *past, struct task_struct *task)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	__u32 count;

	if (!thread)
		return;
	count = smp_load_acquire(&thread->block.past);
	past_copy(past, task, thread);
	past->blocks[count & (OFFCPUD_PAST_BLOCKS - 1)].ended_ns = 0;
	smp_rmb();
	if (READ_ONCE(thread->block.past) != count)
		past->tid = 0;
}

/* The thread that ended the longest block within a time; 0: none is known. */
static __always_inline __u32 past_next(const struct offcpud_past *past, __u64 since_ns,
				       __u64 until_ns)
{
	__u64 longest = 0;
	__u32 next = 0;

	for (int i = 0; i < OFFCPUD_PAST_BLOCKS + 1; i++) {
		const struct offcpud_past_block *block = &past->blocks[i];
		__u64 ended_ns = block->ended_ns;
		__u64 began_ns = ended_ns - ((__u64)block->length << OFFCPUD_PAST_UNIT);

		if (!ended_ns || ended_ns > until_ns)
			continue;
		if (began_ns < since_ns)
			began_ns = since_ns;
		if ((__s64)(ended_ns - began_ns) <= 0 || ended_ns - began_ns <= longest)
			continue;
		longest = ended_ns - began_ns;
		next = block->who & OFFCPUD_PAST_TID;
	}
	return next;
}

/* Fills the record's account of those who waited for one another: the first is known since the
 * wakeup, the others are looked up. */
SUBPROGRAM int past_follow(struct offcpud_sample_record *record, struct chosen *chosen)
{
	record->past[0] = chosen->past;
	for (int hop = 1; hop < OFFCPUD_PAST_HOPS; hop++) {
		const struct offcpud_past *before = &record->past[hop - 1];
		struct task_struct *task;
		__u32 tid = 0;

		__builtin_memset(&record->past[hop], 0, sizeof(record->past[hop]));
		if (before->tid)
			tid = past_next(before, chosen->sample.since_ns, chosen->sample.ended_ns);
		if (!tid || !find_tasks)
			continue;
		task = bpf_task_from_pid(tid);
		if (!task)
			continue;
		past_of_other(&record->past[hop], task);
		bpf_task_release(task);
	}
	return 0;
}

#endif
