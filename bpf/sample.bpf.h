/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of a share of the blocks, chosen by their length. */
#ifndef OFFCPUD_SAMPLE_BPF_H
#define OFFCPUD_SAMPLE_BPF_H

#include "blame.bpf.h"
#include "maps.bpf.h"
#include "reason.bpf.h"
#include "sample_maps.bpf.h"
#include "tid.bpf.h"
#include "unwind.bpf.h"

/* thread->block.counted_ns of a block that has ended: no walk credits it any more. */
#define COUNTED_WHOLE (~0ULL)

static __noinline bool task_is_target(struct task_struct *task)
{
	__u32 count = focus_count, thread, process, i;

	thread = local_tid(task);
	process = local_tid(task->group_leader);
	for (i = 0; i < OFFCPUD_FOCUSES && i < count; ++i)
		if (thread && (focuses[i] == thread || focuses[i] == process))
			return true;
	return false;
}

/* Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (14), 2003: the triple 13, 17, 5. A
 * generator for each thread: the kernel's takes 25 ns, at every block. */
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

/* 0: not chosen. */
static __always_inline __u64 block_weight(struct task_struct *task, struct thread *thread, __u64 ns)
{
	__u64 interval = sample_interval_ns;

	if (ns >= interval)
		return ns;
	if (focus_count && focus_interval_ns < interval && task_is_target(task)) {
		interval = focus_interval_ns;
		if (ns >= interval)
			return ns;
	}
	return offcpud_sample_chosen(ns, interval, sampling_random(thread)) ? interval : 0;
}

/* Asked of blocks that are chosen otherwise only: so it costs nothing in the others. */
static __always_inline bool task_is_wanted(struct task_struct *task, __u32 task_state)
{
	__u32 whose =
		is_kernel_thread(task) ? OFFCPUD_SAMPLE_KERNEL_THREADS : OFFCPUD_SAMPLE_PROGRAMS;

	return (sample_threads & whose) && (!sample_states || (sample_states & task_state));
}

static __always_inline int sample_lose(__u64 weight_ns)
{
	atomic_add(&samples_lost_ns, weight_ns);
	return loss_add(OFFCPUD_LOSS_SAMPLE);
}

static __always_inline __u32 frames_of(long bytes)
{
	return bytes > 0 ? (__u64)bytes >> 3 : 0;
}

static __always_inline void sample_describe_waiter(struct offcpud_sample *sample,
						   struct task_struct *task, __u32 task_state)
{
	sample->cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	sample->process_start_ns = task->group_leader->start_boottime;
	sample->tid = task->pid;
	sample->tgid = task->tgid;
	sample->local_tid = local_tid(task);
	sample->local_tgid = local_tid(task->group_leader);
	sample->flags = is_kernel_thread(task) ? OFFCPUD_SAMPLE_KERNEL_THREAD : 0;
	sample->task_state = task_state;
	copy_comm(sample->comm, task);
	copy_comm(sample->process_comm, task->group_leader);
}

/* Appends a user stack, `most` frames of it, and releases it; how many it were. */
static __always_inline __u32 stack_append_user(struct offcpud_unwind_stack *stack, __u64 *at,
					       __u32 frames, __u32 most, __u32 *end)
{
	__u32 count;

	if (!stack) {
		*end = OFFCPUD_UNWIND_END_READ;
		return 0;
	}
	count = stack->frames < most ? stack->frames : most;
	*end = stack->end;
	if (bpf_probe_read_kernel(at + (frames & SAMPLE_INDEX_MASK), (count & most) * sizeof(__u64),
				  stack->addresses)) {
		*end = OFFCPUD_UNWIND_END_READ; /* what is not there is not complete */
		count = 0;
	}
	unwind_release();
	return count;
}

static __always_inline void sample_describe_waker(void *ctx, struct chosen *chosen,
						  struct thread *thread)
{
	struct offcpud_sample *sample = &chosen->sample;
	struct offcpud_unwind_stack *stack;
	__u32 frames, end;

	sample->waker = thread->waking.waker ? thread->waking.waker - 1 : OFFCPUD_WAKERS;
	sample->waker_tid = thread->waking.waker_tid;
	sample->waker_tgid = sample->waker_local_tgid = 0;
	sample->waker_user_frames = 0;
	frames = frames_of(
		bpf_get_stack(ctx, chosen->waker, OFFCPUD_WAKER_FRAMES * sizeof(__u64), 0));
	sample->waker_kernel_frames = frames;
	if (!thread->waking.waker_tid) {
		sample->waker_comm[0] = 0;
		return;
	}
	sample->waker_tgid = bpf_get_current_pid_tgid() >> 32;
	sample->waker_local_tgid = local_tid(bpf_get_current_task_btf()->group_leader);
	copy_comm(sample->waker_comm, bpf_get_current_task_btf());
	/* No more frames than are kept: the kernel waits meanwhile, with interrupts off. */
	stack = unwind_user(sample->waker_local_tgid, OFFCPUD_WAKER_FRAMES, 0, 0);
	if (!stack)
		loss_add(OFFCPUD_LOSS_WAKER_STACK);
	sample->waker_user_frames = stack_append_user(
		stack, chosen->waker, frames & WAKER_INDEX_MASK, OFFCPUD_WAKER_FRAMES, &end);
}

static __noinline int block_keep(void *ctx, struct task_struct *task, struct thread *thread,
				 __u64 ns, __u64 weight_ns)
{
	__u32 zero = 0, tid, task_state;
	struct chosen *chosen = bpf_map_lookup_elem(&choosing, &zero);
	struct offcpud_sample *sample;
	bool seeded;

	if (!chosen)
		return 0;
	seeded = thread->state == THREAD_SEEDED_WAITING;
	task_state = seeded ? thread->seeded.task_state : thread->block.task_state;
	if (!task_is_wanted(task, task_state))
		return 0;
	sample = &chosen->sample;
	sample->ns = ns;
	sample->weight_ns = weight_ns;
	sample->since_ns = seeded ? thread->seeded.ns : thread->since_ns;
	sample->ended_ns = thread->waking.ns;
	sample->kind = seeded ? thread->seeded.kind : thread->kind;
	sample_describe_waiter(sample, task, task_state);
	sample_describe_waker(ctx, chosen, thread);
	tid = task->pid;
	if (bpf_map_update_elem(&chosen_blocks, &tid, chosen, BPF_ANY))
		return sample_lose(weight_ns);
	thread->sampling.chosen = IS_CHOSEN;
	return 0;
}

/* Of a block that ends now, what no walk has credited. Only long ones are credited, so that short
 * ones need no atomic exchange. */
static __always_inline __u64 block_uncounted(struct thread *thread, __u64 since_ns, __u64 ns)
{
	__u64 credited_ns;

	if (ns < OFFCPUD_CREDIT_AGE_NS)
		return ns;
	credited_ns = xchg(&thread->block.counted_ns, COUNTED_WHOLE);
	if (credited_ns <= since_ns)
		return ns;
	return credited_ns < thread->waking.ns ? thread->waking.ns - credited_ns : 0;
}

/* A chosen block whose stacks nobody took, because the switch or the interrupt was missed. */
static __noinline int block_drop(struct task_struct *task, struct thread *thread)
{
	struct chosen *chosen;
	__u32 tid;

	thread->sampling.chosen = NOT_CHOSEN;
	tid = task->pid;
	chosen = bpf_map_lookup_elem(&chosen_blocks, &tid);
	if (!chosen)
		return 0;
	sample_lose(chosen->sample.weight_ns);
	bpf_map_delete_elem(&chosen_blocks, &tid);
	return 0;
}

/* At sched_waking, in the waker's context. A block that began before anybody looked counts from
 * then on, as in block_count_part(). */
static __always_inline void block_choose(void *ctx, struct task_struct *task, struct thread *thread)
{
	__u64 since_ns = thread->since_ns, length, ns, weight_ns;
	__u32 kind = thread->kind;

	if (thread->state == THREAD_SEEDED_WAITING) {
		since_ns = thread->seeded.ns;
		kind = thread->seeded.kind;
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
	weight_ns = block_weight(task, thread, ns);
	if (ns && weight_ns)
		block_keep(ctx, task, thread, ns, weight_ns);
}

/* Asks for an interrupt on this CPU. It comes when interrupts are allowed again, which is when the
 * switch is done and the thread is current (kernel/sched/core.c, finish_task_switch). */
static __always_inline bool interrupt_self(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), nothing = 0;
	void *bell = bpf_map_lookup_elem(&bells, &cpu);

	return bell && !bpf_ringbuf_output(bell, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}

/* At sched_switch. A program on the end of every switch would cost more than all else that is done
 * for stacks. */
static __always_inline void stacks_want(struct task_struct *task, struct thread *thread)
{
	if (!thread->sampling.chosen)
		return;
	thread->sampling.chosen = STACKS_WANTED;
	if (!interrupt_self())
		block_drop(task, thread);
}

/* `record` becomes what `chosen` says with the stacks of the current thread; its size. */
static __always_inline __u32 record_fill(void *ctx, struct offcpud_sample_record *record,
					 struct chosen *chosen, struct offcpud_unwind_stack *stack)
{
	struct offcpud_sample *sample = &record->sample;
	__u32 frames, waker;

	*sample = chosen->sample;
	frames = frames_of(
		bpf_get_stack(ctx, record->frames, OFFCPUD_STACK_FRAMES * sizeof(__u64), 0));
	sample->kernel_frames = frames;
	sample->user_frames = stack_append_user(stack, record->frames, frames, OFFCPUD_STACK_FRAMES,
						&sample->user_end);
	frames += sample->user_frames;
	waker = sample->waker_kernel_frames + sample->waker_user_frames;
	if (bpf_probe_read_kernel(record->frames + (frames & SAMPLE_INDEX_MASK),
				  (waker & WAKER_INDEX_MASK) * sizeof(__u64), chosen->waker)) {
		waker = 0;
		sample->waker_kernel_frames = sample->waker_user_frames = 0;
	}
	return sizeof(*sample) + ((frames + waker) & SAMPLE_FRAMES_MASK) * sizeof(__u64);
}

/* In an interrupt of the thread that was waited for, once it runs. */
static __noinline int stacks_take(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, tid = task->pid, size;
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct offcpud_sample_record *record = bpf_map_lookup_elem(&sampling, &zero);
	struct offcpud_unwind_stack *stack;
	struct chosen *chosen;

	if (!thread || thread->sampling.chosen != STACKS_WANTED)
		return 0; /* somebody else's interrupt */
	stack = unwind_user(local_tid(task->group_leader), OFFCPUD_UNWIND_FRAMES,
			    OFFCPUD_UNWIND_PAUSES, thread->since_ns);
	if (stack && unwind_is_paused()) {
		if (interrupt_self())
			return 0;
		stack->end = OFFCPUD_UNWIND_END_NO_MAPPING;
	}
	thread->sampling.chosen = NOT_CHOSEN;
	chosen = bpf_map_lookup_elem(&chosen_blocks, &tid);
	if (!chosen || !record) {
		if (stack)
			unwind_release();
		return loss_add(OFFCPUD_LOSS_SAMPLE); /* cannot happen */
	}
	size = record_fill(ctx, record, chosen, stack);
	bpf_map_delete_elem(&chosen_blocks, &tid);
	if (size > sizeof(*record))
		size = sizeof(*record);
	/* The daemon looks several times a second; waking it from here would be one more wakeup. */
	if (bpf_ringbuf_output(&samples, record, size, BPF_RB_NO_WAKEUP))
		return sample_lose(record->sample.weight_ns);
	return 0;
}

#endif
