/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides at the end of a block whether it is sampled, and what the waker adds to the sample. */
#ifndef OFFCPUD_CHOOSE_BPF_H
#define OFFCPUD_CHOOSE_BPF_H

#include "sample.bpf.h"

SUBPROGRAM bool task_is_target(struct task_struct *task)
{
	__u32 count = target_count, thread, process, i;

	thread = local_tid(task);
	process = local_tid(task->group_leader);
	for (i = 0; i < OFFCPUD_TARGETS && i < count; ++i)
		if (thread && (targets[i] == thread || targets[i] == process))
			return true;
	return false;
}

/* Xorshift (Marsaglia, Journal of Statistical Software 8 (14), 2003; the triple 13, 17, 5), one
 * generator for each thread: the kernel's would take 25 ns at every block. */
static __always_inline __u32 sampling_random(struct thread *thread)
{
	__u32 x = thread->sampling.random;

	if (!x)
		x = bpf_get_prandom_u32() ?: 1;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	thread->sampling.random = x;
	return x;
}

/* The sampling interval of the block's stratum. The row is kept in struct thread, whose first cache
 * line is at hand here, unlike the task. */
static __always_inline __u64 sample_interval(struct task_struct *task, struct thread *thread,
					     __u32 kind)
{
	__u32 row = thread->sampling.row;

	if (unlikely(!row)) {
		row = offcpud_sample_row(task->tgid, is_kernel_thread(task));
		thread->sampling.row = row;
	}
	return sample_intervals_ns[(row * OFFCPUD_SAMPLE_REASONS + kind) &
				   (OFFCPUD_SAMPLE_STRATA - 1)];
}

/* The time that a block of this length stands for; 0: it is not chosen. */
static __always_inline __u64 block_weight(struct task_struct *task, struct thread *thread,
					  __u32 kind, __u64 ns)
{
	__u64 interval = sample_interval(task, thread, kind);

	if (ns >= interval)
		return ns;
	if (target_count && target_interval_ns < interval && task_is_target(task)) {
		interval = target_interval_ns;
		if (ns >= interval)
			return ns;
	}
	return offcpud_sample_chosen(ns, interval, sampling_random(thread)) ? interval : 0;
}

/* The time that a part of a block stands for. The part is less than the block only if a walk has
 * counted the rest. Such a block has lasted at least OFFCPUD_IN_PROGRESS_AGE_NS, so microseconds
 * are fine enough. No interval exceeds 2^40 ns, so the product does not overflow. */
static __always_inline __u64 part_weight(__u64 part_ns, __u64 length_ns, __u64 whole_ns)
{
	if (whole_ns == length_ns)
		return part_ns;
	if (part_ns == length_ns)
		return whole_ns;
	return ((part_ns >> 10) * (whole_ns >> 10) / (length_ns >> 10)) << 10;
}

static __always_inline void sample_describe_waker(void *ctx, struct chosen *chosen,
						  struct thread *thread)
{
	struct offcpud_sample *sample = &chosen->sample;
	struct offcpud_unwind_stack *stack;
	__u32 frames, end;

	sample->waker = thread->waking.waker ? thread->waking.waker - 1 : OFFCPUD_WAKERS;
	sample->waker_tid = waker_tid_of(thread);
	sample->waker_tgid = sample->waker_local_tgid = 0;
	sample->waker_user_frames = 0;
	frames = frames_of(
		bpf_get_stack(ctx, chosen->waker, OFFCPUD_WAKER_FRAMES * sizeof(__u64), 0));
	sample->waker_kernel_frames = frames;
	if (!sample->waker_tid) {
		sample->waker_comm[0] = 0;
		return;
	}
	sample->waker_tgid = bpf_get_current_pid_tgid() >> 32;
	sample->waker_local_tgid = local_tid(bpf_get_current_task_btf()->group_leader);
	copy_comm(sample->waker_comm, bpf_get_current_task_btf());
	/* Walks no more frames than are kept, because interrupts are off meanwhile. */
	stack = unwind_user(sample->waker_local_tgid, OFFCPUD_WAKER_FRAMES, 0, 0);
	if (!stack)
		loss_add(OFFCPUD_LOSS_WAKER_STACK);
	sample->waker_user_frames = stack_append_user(
		stack, chosen->waker, frames & WAKER_INDEX_MASK, OFFCPUD_WAKER_FRAMES, &end);
}

SUBPROGRAM int block_keep(void *ctx, struct task_struct *task, struct thread *thread, __u64 ns,
			  __u64 whole_ns)
{
	__u32 zero = 0, tid, task_state;
	struct chosen *chosen = bpf_map_lookup_elem(&choosing, &zero);
	struct offcpud_sample *sample;
	bool found;

	if (!chosen)
		return 0;
	found = thread->state == THREAD_FOUND_WAITING;
	task_state = found ? thread->found.task_state : thread->block.task_state;
	if (!task_is_wanted(task, task_state))
		return 0;
	sample = &chosen->sample;
	sample->since_ns = found ? thread->found.ns : thread->since_ns;
	sample->ended_ns = thread->waking.ns;
	sample->asleep_ns = 0;
	sample->ns = ns;
	sample->weight_ns = part_weight(ns, sample->ended_ns - sample->since_ns, whole_ns);
	sample->whole_ns = whole_ns;
	sample->kind = found ? thread->found.kind : thread->kind;
	sample_describe_waiter(sample, task, task_state);
	if (found)
		sample->flags |= OFFCPUD_SAMPLE_CENSORED;
	sample_describe_waker(ctx, chosen, thread);
	peer_note_ender(chosen, task, sample->waker_tid);
	peer_note_page(chosen, task);
	tid = task->pid;
	if (bpf_map_update_elem(&chosen_blocks, &tid, chosen, BPF_ANY))
		return sample_lose(sample);
	thread->sampling.chosen = IS_CHOSEN;
	return 0;
}

/* The part of an ending block that no walk has counted. Walks count long blocks only, so
 * short ones need no atomic exchange. */
static __always_inline __u64 block_uncounted(struct thread *thread, __u64 since_ns, __u64 ns)
{
	__u64 counted_ns;

	if (ns < OFFCPUD_IN_PROGRESS_AGE_NS)
		return ns;
	counted_ns = xchg(&thread->block.counted_ns, COUNTED_WHOLE);
	if (counted_ns <= since_ns)
		return ns;
	return counted_ns < thread->waking.ns ? thread->waking.ns - counted_ns : 0;
}

/* Decides whether the block is sampled. Call it at sched_waking, in the waker's context. A block
 * that began before any event of its thread was seen counts from when a walk found it, as in
 * block_count_part(). */
static __always_inline void block_choose(void *ctx, struct task_struct *task, struct thread *thread)
{
	__u64 since_ns = thread->since_ns, length, ns, whole_ns;
	__u32 kind = thread->kind;

	if (thread->state == THREAD_FOUND_WAITING) {
		since_ns = thread->found.ns;
		kind = thread->found.kind;
	} else if (thread->state != THREAD_BLOCKED) {
		return;
	}
	length = thread->waking.ns - since_ns;
	if (!has_kind(sample_kinds, kind) || (__s64)length <= 0)
		return;
	if (thread->sampling.chosen)
		block_drop(task, thread);
	ns = block_uncounted(thread, since_ns, length);
	if (length < sample_min_ns || length > sample_max_ns)
		return;
	/* The whole length decides, so that the end of a long block is always sampled, even if
	 * walks have counted nearly all of it. */
	whole_ns = block_weight(task, thread, kind, length);
	if (whole_ns)
		block_keep(ctx, task, thread, ns, whole_ns);
}

#endif
