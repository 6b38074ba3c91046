/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blocks that a thread has behind it: what it did while another one waited for it.
 *
 * Samples tell that only if they have both the wait and the blocks of whoever ended it. If these
 * are much shorter than the sampling interval, they rarely do. So each thread remembers its last
 * blocks (thread.block, thread.past), and a chosen block takes along those of the thread that is
 * current at its end, of whoever ended the longest of these, and so on.
 *
 * A thread keeps a block at its next switch-out, when the length is known. Very short ones are only
 * added up, so most switches write no other cache line than without all this.
 */
#ifndef OFFCPUD_PAST_BPF_H
#define OFFCPUD_PAST_BPF_H

#include "sample_maps.bpf.h"
#include "thread.bpf.h"

/* kernel/bpf/helpers.c; since 6.2. By the number in the first PID namespace. */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
#define bpf_task_from_pid(pid) CHECKED(bpf_task_from_pid(pid))

/* The block ends, and is accounted. Whoever was current at the waking is known if that is noted. */
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

/* The last block. Empty: there is none, or it has not ended. */
static __always_inline struct offcpud_past_block past_last(const struct thread *thread)
{
	__u64 began_ns = READ_ONCE(thread->block.began_ns);
	__u64 ended_ns = READ_ONCE(thread->block.ended_ns);
	struct offcpud_past_block last = {};

	if (!began_ns || (__s64)(ended_ns - began_ns) < 0)
		return last;
	last.ended_ns = ended_ns;
	last.length = past_units(ended_ns - began_ns);
	last.skipped = past_units(thread->block.skipped_ns + (1 << OFFCPUD_PAST_UNIT) - 1);
	last.who = (thread->block.ender & (OFFCPUD_PAST_TID | OFFCPUD_PAST_INTERRUPT)) |
		   (__u32)thread->block.kind << OFFCPUD_PAST_KIND;
	return last;
}

/* Pairs with past_of_other(). */
SUBPROGRAM int past_push(struct thread *thread)
{
	__u16 count = thread->block.past;

	thread->past[count & (OFFCPUD_PAST_BLOCKS - 1)] = past_last(thread);
	thread->block.skipped_ns = 0;
	smp_store_release(&thread->block.past, (__u16)(count + 1));
	return 0;
}

/* At the switch-out of a thread that blocks again, before anything of the new block is written. */
static __always_inline void past_keep(struct thread *thread)
{
	__u64 began_ns = thread->block.began_ns;
	__s64 length = thread->block.ended_ns - began_ns;
	__u32 skipped_ns;

	if (!take_samples || !tell_wakers || !began_ns || length < 0)
		return;
	if (length >= OFFCPUD_PAST_LEAST_NS) {
		past_push(thread);
		return;
	}
	skipped_ns = thread->block.skipped_ns + (__u32)length;
	if (skipped_ns >= (__u32)length) /* else four seconds of them: enough */
		thread->block.skipped_ns = skipped_ns;
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
 * replacing, and nothing if it has begun or kept another one. */
static __always_inline void past_of_other(struct offcpud_past *past, struct task_struct *task)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 began_ns;
	__u16 count;

	if (!thread)
		return;
	count = smp_load_acquire(&thread->block.past);
	began_ns = READ_ONCE(thread->block.began_ns);
	smp_rmb();
	past_copy(past, task, thread);
	past->blocks[count & (OFFCPUD_PAST_BLOCKS - 1)].ended_ns = 0;
	smp_rmb();
	if (READ_ONCE(thread->block.past) != count || READ_ONCE(thread->block.began_ns) != began_ns)
		past->tid = 0;
}

/* A part of a time, and the thread that ended it; 0: none is known. */
struct past_part {
	__u64 since_ns, until_ns;
	__u32 tid;
	__u32 unused;
};

/* Narrows a part to the longest block within it. */
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

/* Fills the record's account of those who waited for one another: the first is known since the
 * wakeup, the others are looked up. */
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
