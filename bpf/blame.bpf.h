/* SPDX-License-Identifier: GPL-2.0-only */
/* Who takes the CPU of a thread that could run on, and who wakes it. */
#ifndef OFFCPUD_BLAME_BPF_H
#define OFFCPUD_BLAME_BPF_H

#include "thread.bpf.h"

/* Whether the current waking is done by an interrupt or softirq; `current` is then only the thread
 * that it interrupted. preempt_count is found by its distance from the run queue: both are per-CPU
 * variables, whose addresses are known only with CONFIG_KALLSYMS_ALL. */
static __always_inline bool in_interrupt(struct task_struct *current)
{
	void *rq = current->se.cfs_rq->rq;
	int count = 0;

	if (CAN_CAST)
		count = cast_int(rq + preempt_count_at);
	else if (read_files)
		bpf_probe_read_kernel(&count, sizeof(count), rq + preempt_count_at);
	/* PREEMPT_RT runs softirqs in threads, which keep the softirq part of the count. */
	if (is_preempt_rt())
		count |= current->softirq_disable_cnt;
	return count & (HARDIRQ_NMI_MASK | SOFTIRQ_OFFSET);
}

static __always_inline bool same_cgroup(struct task_struct *one, struct task_struct *other)
{
	return one->cgroups->dfl_cgrp == other->cgroups->dfl_cgrp;
}

static __always_inline __u32 taker_of(struct task_struct *task, struct task_struct *other)
{
	if (other->flags & PF_KTHREAD)
		return OFFCPUD_BY_KERNEL;
	return same_cgroup(task, other) ? OFFCPUD_BY_SAME_CGROUP : OFFCPUD_BY_OTHER_CGROUP;
}

static __always_inline void copy_comm(char *comm, struct task_struct *task)
{
	if (CAN_CAST) {
		cast_two_words(task->comm, (__u64 *)comm);
	} else if (read_files) {
		bpf_probe_read_kernel(comm, OFFCPUD_COMM, task->comm);
	} else {
		comm[0] = 0;
	}
}

/* Notes who wakes the thread. The idle task counts as an interrupt: it runs what these left. */
static __always_inline void waking_set(struct task_struct *task, struct thread *thread,
				       struct task_struct *waker, __u64 now)
{
	__u32 from;

	WRITE_ONCE(thread->waking.ns, now);
	if (!tell_wakers) {
		from = OFFCPUD_WAKERS;
	} else if (!waker->pid || in_interrupt(waker)) {
		from = OFFCPUD_FROM_INTERRUPT;
		thread->waking.waker_tid = waker->pid | OFFCPUD_PAST_INTERRUPT;
	} else {
		thread->waking.waker_tid = waker->pid;
		if (waker->flags & PF_KTHREAD)
			from = OFFCPUD_FROM_KERNEL;
		else
			from = same_cgroup(task, waker) ? OFFCPUD_FROM_SAME_CGROUP
							: OFFCPUD_FROM_OTHER_CGROUP;
	}
	smp_store_release(&thread->waking.waker, from + 1); /* pairs with woken_too_early() */
}

#endif
