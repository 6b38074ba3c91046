/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of a share of the blocks, chosen by their length. */
#ifndef OFFCPUD_SAMPLE_BPF_H
#define OFFCPUD_SAMPLE_BPF_H

#include "blame.bpf.h"
#include "maps.bpf.h"
#include "sample.h"

#define WAKER_FRAMES 32

/* A chosen block from its wakeup until the thread runs and adds its own stacks. */
struct chosen {
	struct offcpud_sample sample;
	__u64 waker_stack[OFFCPUD_WAKER_FRAMES];
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

/* Whether the thread that this CPU has switched to has a chosen block. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} stack_wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} samples SEC(".maps");

/* Blocks of these kinds (bits) and lengths are sampled. */
__u32 sample_kinds = 0;
__u64 sample_min_ns = 0;
__u64 sample_max_ns = 0;
/* A block of length d is kept with the probability min(1, d / interval) and stands for
 * max(d, interval), so every sum over samples is unbiased whatever the lengths. */
__u64 sample_interval_ns = 0;
/* Time that chosen blocks stand for whose sample could not be taken. */
__u64 samples_lost_ns = 0;

/* 0: not chosen. */
static __always_inline __u64 weight_of(__u64 ns)
{
	__u64 interval = sample_interval_ns;

	if (ns < sample_min_ns || ns > sample_max_ns)
		return 0;
	if (ns >= interval)
		return ns;
	/* random / 2^32 < ns / interval, with 16 bits less on both sides: nothing overflows below
	 * three days. */
	return (__u64)bpf_get_prandom_u32() * (interval >> 16) < ns << 16 ? interval : 0;
}

static __always_inline void lose_sample(__u64 weight_ns)
{
	__sync_fetch_and_add(&samples_lost_ns, weight_ns);
	lose(OFFCPUD_LOSS_SAMPLE);
}

static __noinline int keep_block(void *ctx, struct task_struct *task, struct thread *thread,
				 __u64 weight_ns)
{
	__u32 zero = 0, tid;
	struct chosen *chosen = bpf_map_lookup_elem(&choosing, &zero);
	struct offcpud_sample *sample;
	long bytes;

	if (!chosen || !task || !thread)
		return 0;
	sample = &chosen->sample;
	sample->ns = thread->woken_ns - thread->since_ns;
	sample->weight_ns = weight_ns;
	sample->ended_ns = thread->woken_ns;
	sample->cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	sample->process_start_ns = task->group_leader->start_boottime;
	sample->tid = tid = task->pid;
	sample->tgid = task->tgid;
	sample->kind = thread->kind;
	sample->waker = thread->waker;
	sample->waker_tid = thread->waker_tid;
	copy_comm(sample->comm, task);
	copy_comm(sample->waker_comm, bpf_get_current_task_btf());
	bytes = bpf_get_stack(ctx, chosen->waker_stack, sizeof(chosen->waker_stack), 0);
	sample->waker_frames = bytes > 0 ? (__u64)bytes >> 3 : 0;
	if (bpf_map_update_elem(&chosen_blocks, &tid, chosen, BPF_ANY)) {
		lose_sample(weight_ns);
		return 0;
	}
	thread->chosen = 1;
	return 0;
}

/* At sched_waking, in the waker's context. */
static __always_inline void choose_block(void *ctx, struct task_struct *task, struct thread *thread)
{
	__u64 ns = thread->woken_ns - thread->since_ns, weight_ns;

	if (thread->state != THREAD_BLOCKED || !((sample_kinds >> (thread->kind & 31)) & 1))
		return;
	if ((__s64)ns < 0 || thread->chosen)
		return;
	weight_ns = weight_of(ns);
	if (weight_ns)
		keep_block(ctx, task, thread, weight_ns);
}

/* At sched_switch: the stacks are taken once the switch is done and the thread is current. */
static __always_inline void want_stacks(struct thread *thread)
{
	__u32 zero = 0, *wanted;

	if (!thread->chosen)
		return;
	wanted = bpf_map_lookup_elem(&stack_wanted, &zero);
	if (wanted)
		*wanted = 1;
}

static __noinline int take_stacks(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct chosen *chosen = bpf_map_lookup_elem(&chosen_blocks, &tid);
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct offcpud_sample_record *record;
	long bytes;

	if (thread)
		thread->chosen = 0;
	if (!chosen)
		return 0;
	record = bpf_ringbuf_reserve(&samples, sizeof(*record), 0);
	if (!record) {
		lose_sample(chosen->sample.weight_ns);
		bpf_map_delete_elem(&chosen_blocks, &tid);
		return 0;
	}
	record->sample = chosen->sample;
	__builtin_memcpy(record->waker, chosen->waker_stack, sizeof(record->waker));
	bpf_map_delete_elem(&chosen_blocks, &tid);
	bytes = bpf_get_stack(ctx, record->kernel, sizeof(record->kernel), 0);
	record->sample.kernel_frames = bytes > 0 ? (__u64)bytes >> 3 : 0;
	record->sample.user_frames = 0;
	record->sample.user_end = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
