/* SPDX-License-Identifier: GPL-2.0-only */
/* Who keeps a thread off the CPU, and who wakes it. */
#ifndef OFFCPUD_BLAME_BPF_H
#define OFFCPUD_BLAME_BPF_H

#include "thread.bpf.h"

/* Whether the current waking is done by an interrupt or softirq; `current` is then only the thread
 * that it interrupted. preempt_count is a per-CPU variable. The addresses of variables are known
 * only with CONFIG_KALLSYMS_ALL, so it is found from the run queue of this CPU, which is per CPU as
 * well. */
static __always_inline bool in_interrupt(struct task_struct *current)
{
	void *rq = current->se.cfs_rq->rq;
	int count = 0;

	if (CAN_CAST)
		count = cast_int(rq + preempt_count_at);
	else if (read_files)
		bpf_probe_read_kernel(&count, sizeof(count), rq + preempt_count_at);
	/* PREEMPT_RT runs softirqs in threads, and keeps their part of the count there. */
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

static __always_inline void taker_set(struct taker *taker, struct task_struct *other, __u32 by)
{
	taker->by = by;
	taker->tid = other->pid;
	copy_comm(taker->comm, other);
}

static __always_inline void kernel_time_add(__u32 cpu, __u64 ns)
{
	struct kernel_time *time = bpf_map_lookup_elem(&kernel_times, &cpu);

	if (time)
		time->ns += ns;
}

#define NO_CPU 0xffffffff

/* A wait in the run queue of this CPU begins. */
static __always_inline void thread_mark_queued(struct thread *thread, __u32 cpu)
{
	struct kernel_time *time = bpf_map_lookup_elem(&kernel_times, &cpu);

	thread->queued.cpu = cpu;
	thread->queued.kernel_ns = time ? time->ns : 0;
}

/* Accounts a wait for the CPU to those who had the CPU meanwhile. The programs do not see every one
 * of them: they know who preempted the thread (the first) and `prev` (the last). It names the first
 * that is no kernel thread, because kernel threads come and go in between. How long all kernel
 * threads together ran is known, unless the thread was moved to another CPU. */
SUBPROGRAM int taker_account_long(struct task_struct *task, struct thread *thread,
				  struct task_struct *prev, __u32 cpu, __u64 ns)
{
	bool first;
	__u64 kernel_ns = 0;
	__u32 by;

	first = thread->kind == OFFCPUD_RUNQ_PREEMPTED && thread->last_taker.tid;
	by = thread->last_taker.by;
	if (prev->pid && (!first || by == OFFCPUD_BY_KERNEL)) {
		__u32 last = taker_of(task, prev);

		if (!first || last != OFFCPUD_BY_KERNEL) {
			by = last;
			taker_set(&thread->last_taker, prev, by);
		}
	} else if (!first) {
		return 0; /* the CPU was idle */
	}
	if (cpu == thread->queued.cpu) {
		struct kernel_time *time = bpf_map_lookup_elem(&kernel_times, &cpu);

		kernel_ns = time ? time->ns - thread->queued.kernel_ns : 0;
		if (kernel_ns > ns)
			kernel_ns = ns; /* one of them ran before the wait began */
		/* Others ran between the first and the last. */
		if (by == OFFCPUD_BY_KERNEL)
			by = OFFCPUD_BY_OTHER_CGROUP;
	}
	thread->sums.kept_off_ns[OFFCPUD_BY_KERNEL] += kernel_ns;
	if (by < OFFCPUD_TAKERS)
		thread->sums.kept_off_ns[by] += ns - kernel_ns;
	if (ns > thread->longest_wait.ns) {
		thread->longest_wait.ns = ns;
		thread->longest_wait.taker = thread->last_taker;
	}
	return 0;
}

/* The same for waits of any length. A wait too short for several threads to have run meanwhile is
 * accounted to the last one. */
static __always_inline void taker_account(struct task_struct *task, struct thread *thread,
					  struct task_struct *prev, __u32 cpu, __u64 ns)
{
	__u32 by;

	if (ns >= OFFCPUD_NAMED_WAIT_NS || ns > thread->longest_wait.ns) {
		if (thread->kind != OFFCPUD_RUNQ_THROTTLED)
			taker_account_long(task, thread, prev, cpu, ns);
	} else if (prev->pid && thread->kind != OFFCPUD_RUNQ_THROTTLED) {
		by = taker_of(task, prev);
		if (by < OFFCPUD_TAKERS)
			thread->sums.kept_off_ns[by] += ns;
	}
}

/* Notes who wakes the thread. The idle task wakes nobody by itself: it runs what interrupts left to
 * do. */
static __always_inline void waking_set(struct task_struct *task, struct thread *thread,
				       struct task_struct *waker, __u64 now)
{
	__u32 from;

	WRITE_ONCE(thread->waking.ns, now);
	if (!tell_wakers) {
		from = OFFCPUD_WAKERS;
	} else if (!waker->pid || in_interrupt(waker)) {
		from = OFFCPUD_FROM_INTERRUPT;
		thread->waking.waker_tid = 0;
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
