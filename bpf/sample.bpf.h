/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of blocks: what is common to choosing them (choose.bpf.h), taking their stacks
 * (stacks.bpf.c) and reporting them while they last (blocked.bpf.c). */
#ifndef OFFCPUD_SAMPLE_BPF_H
#define OFFCPUD_SAMPLE_BPF_H

#include "blame.bpf.h"
#include "maps.bpf.h"
#include "peer.bpf.h"
#include "reason.bpf.h"
#include "sample_maps.bpf.h"
#include "tid.bpf.h"
#include "unwind.bpf.h"
#include "waited.bpf.h"

/* block.counted_ns of a block that has ended: no walk counts it any more. */
#define COUNTED_WHOLE (~0ULL)

/* Whether blocks of this thread in this state are sampled. Asked last, so that only blocks that
 * pass all other conditions cost time here. */
static __always_inline bool task_is_wanted(struct task_struct *task, __u32 task_state)
{
	__u32 whose =
		is_kernel_thread(task) ? OFFCPUD_SAMPLE_KERNEL_THREADS : OFFCPUD_SAMPLE_PROGRAMS;

	return (sample_threads & whose) && (!sample_states || (sample_states & task_state));
}

static __always_inline int sample_lose(const struct offcpud_sample *sample)
{
	atomic_add(&samples_lost_ns, sample->weight_ns);
	if (!(sample->flags & OFFCPUD_SAMPLE_CENSORED))
		atomic_add(&samples_lost_whole_ns, sample->whole_ns);
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
	sample->waited_on = 0;
	sample->parent_tgid = task->real_parent->tgid;
	sample->holder_tgid = sample->reserved = 0;
	copy_comm(sample->comm, task);
	copy_comm(sample->process_comm, task->group_leader);
}

/* Appends at most `most` frames of a user stack to the `frames` frames at `at`, and releases the
 * stack. Returns how many it appended; `end` says how the stack ends. */
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
		*end = OFFCPUD_UNWIND_END_READ; /* a stack without frames is not complete */
		count = 0;
	}
	unwind_release();
	return count;
}

/* Gives up a chosen block whose stacks nobody took: the switch or the interrupt was missed. */
SUBPROGRAM int block_drop(struct task_struct *task, struct thread *thread)
{
	struct chosen *chosen;
	__u32 tid;

	thread->sampling.chosen = NOT_CHOSEN;
	tid = task->pid;
	chosen = bpf_map_lookup_elem(&chosen_blocks, &tid);
	if (!chosen)
		return 0;
	sample_lose(&chosen->sample);
	bpf_map_delete_elem(&chosen_blocks, &tid);
	return 0;
}

/* Asks for an interrupt on this CPU. It comes when interrupts are on again; after a switch, the
 * thread that took the CPU is current by then (kernel/sched/core.c, finish_task_switch). */
static __always_inline bool interrupt_self(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), nothing = 0;
	void *ring = bpf_map_lookup_elem(&self_interrupts, &cpu);

	return ring && !bpf_ringbuf_output(ring, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}

/* At the switch-in: asks for the interrupt that takes the stacks. A program at the end of every
 * switch would cost more than all the rest of sampling. */
static __always_inline void stacks_want(struct task_struct *task, struct thread *thread)
{
	if (!thread->sampling.chosen)
		return;
	thread->sampling.chosen = STACKS_WANTED;
	if (!interrupt_self())
		block_drop(task, thread);
}

#endif
