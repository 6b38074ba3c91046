/* SPDX-License-Identifier: GPL-2.0-only */
/* At sched_switch: one thread leaves the CPU, another one takes it. States: see thread.bpf.h. */
#ifndef OFFCPUD_SWITCH_BPF_H
#define OFFCPUD_SWITCH_BPF_H

#include "history.bpf.h"
#include "past.bpf.h"
#include "wake.bpf.h"

/* Whether the thread's group has used up its runtime (CFS bandwidth). Up to 6.17 the group leaves
 * the run queue as a whole before the switch is traced (throttle_cfs_rq); since 6.18 each task has
 * a mark. */
static __always_inline bool task_is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (bpf_core_field_exists(struct cfs_rq, throttle_count) && task->prio >= MAX_RT_PRIO)
		return task->se.cfs_rq->throttle_count > 0;
	return false;
}

static __always_inline void thread_queue_again(struct task_struct *task, struct task_struct *next,
					       struct offcpud_subject *subject,
					       struct thread *thread)
{
	__u32 by;

	if (task_is_throttled(task)) {
		thread->kind = OFFCPUD_RUNQ_THROTTLED;
		return;
	}
	thread->kind = OFFCPUD_RUNQ_PREEMPTED;
	if (!next->pid)
		return; /* nobody takes the CPU: the thread is about to be moved, or held back */
	by = taker_of(task, next);
	if (subject && by < OFFCPUD_TAKERS)
		subject_add(&subject->preemptions[by], 1);
}

/* Whether somebody is about to wake the thread, or holds wakers off. A waker holds pi_lock from
 * before sched_waking until it has set TASK_WAKING, or has found the thread on a run queue and made
 * it run (kernel/sched/core.c, try_to_wake_up). */
static __always_inline bool task_is_being_woken(struct task_struct *task)
{
	return !bpf_core_field_exists(task->pi_lock.raw_lock.val.counter) ||
	       READ_ONCE(task->pi_lock.raw_lock.val.counter);
}

/*
 * Whether the thread that blocks now is awake again: somebody on another CPU woke it after it had
 * left the run queue and before this switch, and waits for the switch to be done. The order of the
 * reads matters: once TASK_WAKING is seen, so is all that sched_waking has written (waking_set).
 *
 * Mostly the noted waking is an old one: the thread ran on, found nothing, and blocks now after
 * all. Such a waking is marked as stale. Otherwise it would count as the end of this block if the
 * real end were missed.
 */
static __always_inline bool woken_too_early(struct task_struct *task, struct thread *thread)
{
	__u64 woken_ns;

	if (likely(!READ_ONCE(thread->waking.waker)))
		return false;
	woken_ns = READ_ONCE(thread->waking.ns);
	smp_rmb();
	if (!task_is_being_woken(task)) {
		/* A waker that came and went meanwhile has set TASK_WAKING. */
		smp_rmb();
		if (READ_ONCE(task->__state) != TASK_WAKING) {
			thread->block.stale_waking_ns = woken_ns;
			return false;
		}
	}
	return READ_ONCE(task->__state) == TASK_WAKING &&
	       READ_ONCE(thread->state) == THREAD_BLOCKED && READ_ONCE(thread->waking.waker);
}

/* The later of two times, which are close to each other. */
static __always_inline __u64 time_later(__u64 one, __u64 other)
{
	return (__s64)(one - other) < 0 ? other : one;
}

/* The same as woken_too_early() when the thread takes a CPU again, for a waker that had not yet set
 * TASK_WAKING at the switch-out. A stale waking did not end this block, nor did one long before it:
 * the thread ran on after both. */
#define WOKEN_BEFORE_NS 1000000

static __always_inline bool was_woken_too_early(struct thread *thread)
{
	return thread->waking.waker && thread->waking.ns != thread->block.stale_waking_ns &&
	       (__s64)(thread->since_ns - thread->waking.ns) < WOKEN_BEFORE_NS;
}

/* Accounts the block, if it is not accounted yet, and the wait for the CPU. Returns the length of
 * the latter. One inlined copy of the code does both, so that it stays in the instruction cache. */
static __always_inline __u64 account_waits(struct account account, struct thread *thread, __u64 now)
{
	bool woken = thread->state == THREAD_WOKEN;
	__u64 since_ns = thread->since_ns, until_ns = now, ns = 0;
	__u32 kind = thread->kind;

	if (woken) {
		until_ns = thread->waking.ns;
		past_note_end(thread, until_ns);
		waking_count(account.subject, thread);
		thread->waking.waker = 0;
		thread->kind = OFFCPUD_RUNQ_WAKEUP;
	}
#pragma clang loop unroll(disable)
	for (int wait = 0; wait < 2; wait++) {
		ns = account_wait(account, thread, kind, until_ns - since_ns);
		if (!woken)
			break;
		woken = false;
		since_ns = until_ns;
		until_ns = now;
		kind = OFFCPUD_RUNQ_WAKEUP;
	}
	return ns;
}

/* Ends the state of a thread that leaves the CPU and was not RUNNING. */
SUBPROGRAM int thread_end_odd_state(struct task_struct *task, struct thread *thread, __u32 cpu,
				    __u64 now)
{
	switch (thread->state) {
	case THREAD_FOUND_RUNNING:
		thread->sums.born_ns = thread->found.ns;
		account_running(subject_of(task, thread, cpu), thread, thread->found.ns, now);
		break;
	case THREAD_UNKNOWN:
		thread->sums.born_ns = now;
		break;
	case THREAD_WOKEN:
		thread->state = THREAD_BLOCKED;
		block_end(task, thread, thread->waking.ns);
		/* fallthrough */
	default:
		loss_add(OFFCPUD_LOSS_SWITCH);
		if (!thread->sums.born_ns)
			thread->sums.born_ns = now;
	}
	return 0;
}

SUBPROGRAM int thread_end(struct task_struct *task, struct thread *thread, __u32 cpu, __u64 now)
{
	account_missing(subject_of(task, thread, cpu), thread, now);
	process_leave(thread);
	if (thread->sampling.chosen)
		block_drop(task, thread);
	thread_begin(thread, THREAD_DEAD, now);
	return 0;
}

static __always_inline void block_begin(struct task_struct *task, struct thread *thread,
					__u32 state, __u64 now)
{
	bool kernel_thread = is_kernel_thread(task), kept = past_keep(thread);

	thread->kind = reason_of(task, kernel_thread, state);
	thread->block.kind = thread->kind;
	thread->block.began_ns = now;
	past_begin(thread, kept);
	thread->block.idle = is_idle_wait(kernel_thread, state);
	thread->block.task_state = state;
	thread->block.counted_ns = 0;
	thread_begin(thread, THREAD_BLOCKED, now);
	if (unlikely(woken_too_early(task, thread)))
		thread_requeue(task, thread, now);
}

static __always_inline __u64 taker_id(struct task_struct *task, struct offcpud_subject *subject)
{
	if (unlikely(task->flags & PF_KTHREAD))
		return OFFCPUD_TAKEN_BY_KERNEL;
	return subject && subject->cgroup_id ? subject->cgroup_id : OFFCPUD_TAKEN_BY_OTHER;
}

/* Ends the run of a thread. Returns the taker as which the thread counts: a cgroup id or an
 * OFFCPUD_TAKEN_BY_*. */
static __always_inline __u64 thread_leave_cpu(struct task_struct *task, struct task_struct *next,
					      bool preempt, __u32 state, __u32 cpu, __u64 now)
{
	struct thread *thread = thread_of(task);
	struct offcpud_subject *subject;
	__u64 taker;

	if (unlikely(!thread)) {
		loss_add(OFFCPUD_LOSS_THREAD_STATE);
		return OFFCPUD_TAKEN_BY_UNKNOWN;
	}
	subject = subject_of(task, thread, cpu);
	taker = taker_id(task, subject);
	if (likely(thread->state == THREAD_RUNNING)) {
		account_running(subject, thread, thread->since_ns, now);
	} else {
		thread_end_odd_state(task, thread, cpu, now);
	}

	if (unlikely(!preempt && (state & TASK_ENDS))) {
		thread_end(task, thread, cpu, now);
	} else if (stays_runnable(task, preempt, state)) {
		thread_queue_again(task, next, subject, thread);
		thread_begin(thread, THREAD_RUNNABLE, now);
	} else {
		block_begin(task, thread, state, now);
	}
	return taker;
}

/* Ends the state of a thread that takes the CPU and was not known to wait for one. Returns whether
 * it did wait. */
SUBPROGRAM bool thread_end_odd_wait(struct task_struct *task, struct thread *thread, __u32 cpu,
				    __u64 now)
{
	if (!thread->sums.born_ns)
		thread->sums.born_ns = now;
	switch (thread->state) {
	case THREAD_BLOCKED:
		if (was_woken_too_early(thread)) {
			thread_requeue(task, thread,
				       time_later(thread->since_ns, thread->waking.ns));
			return true;
		}
		loss_add(OFFCPUD_LOSS_WAKEUP);
		past_note_end(thread, now);
		account_wait(account_of(task, thread, cpu), thread, thread->kind,
			     now - thread->since_ns);
		break;
	case THREAD_UNKNOWN:
		count_add(OFFCPUD_COUNT_LEFT_CENSORED);
		break;
	case THREAD_FOUND_WAITING:
		break;
	default:
		loss_add(OFFCPUD_LOSS_SWITCH);
	}
	return false;
}

static __always_inline void thread_take_cpu(struct task_struct *task, struct task_struct *prev,
					    __u64 taker, __u32 cpu, struct cpu_history *history,
					    __u64 now)
{
	struct thread *thread = thread_of(task);

	if (unlikely(!thread)) {
		loss_add(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	if (likely(thread->state == THREAD_WOKEN || thread->state == THREAD_RUNNABLE) ||
	    thread_end_odd_wait(task, thread, cpu, now)) {
		struct account account = account_of(task, thread, cpu);
		__u64 ns = account_waits(account, thread, now);

		if (history)
			kept_off_account(history, account.subject, thread, prev, taker, cpu, ns,
					 now);
	}
	thread_begin(thread, THREAD_RUNNING, now);
	stacks_want(task, thread);
}

#endif
