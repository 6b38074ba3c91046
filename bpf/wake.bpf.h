/* SPDX-License-Identifier: GPL-2.0-only */
/* At sched_waking and sched_wakeup_new: a block ends, or a new thread is queued. See the table of
 * states in thread.bpf.h. */
#ifndef OFFCPUD_WAKE_BPF_H
#define OFFCPUD_WAKE_BPF_H

#include "blame.bpf.h"
#include "choose.bpf.h"
#include "reason.bpf.h"
#include "subject.bpf.h"

/* Begins a state. Wakers and walks read without the run-queue lock, so the state is written last:
 * who sees it sees all that belongs to it. Pairs with smp_load_acquire() in thread_wake(),
 * describe_state(), block_read() and blocked_since(). */
static __always_inline void thread_begin(struct thread *thread, __u32 state, __u64 now)
{
	WRITE_ONCE(thread->since_ns, now);
	smp_store_release(&thread->state, state);
}

/* The same where this may be the thread's first state that is seen to begin. */
static __always_inline void thread_begin_first(struct thread *thread, __u32 state, __u64 now)
{
	if (!thread->sums.born_ns)
		thread->sums.born_ns = now;
	thread_begin(thread, state, now);
}

/* Reports the end of a block that had become a stall. */
SUBPROGRAM int stall_end_send(struct task_struct *task, struct thread *thread, __u64 since_ns,
			      __u64 now)
{
	struct offcpud_stall_end *end;

	end = bpf_ringbuf_reserve(&stall_ends, sizeof(*end), 0);
	if (!end)
		return loss_add(OFFCPUD_LOSS_STALL_END);
	end->since_ns = since_ns;
	end->ended_ns = now;
	end->cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	end->tid = task->pid;
	end->tgid = task->tgid;
	end->kind = thread->state == THREAD_BLOCKED ? thread->kind : thread->found.kind;
	end->waker = thread->waking.waker ? thread->waking.waker - 1 : OFFCPUD_WAKERS;
	end->waker_tid = thread->waking.waker ? waker_tid_of(thread) : 0;
	end->estimated = thread->state != THREAD_BLOCKED;
	copy_comm(end->comm, task);
	/* The daemon looks at every pass; to wake it from here would be one more wakeup. */
	bpf_ringbuf_submit(end, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void waking_count(struct offcpud_subject *subject, struct thread *thread)
{
	__u64 from = (__u64)thread->waking.waker - 1;

	/* As in kept_off_add(). Clang 16 and later would compare `waker`; then the verifier of 6.1
	 * would know nothing of `from`, which is one less. */
	asm volatile("" : "+r"(from));
	if (subject && from < OFFCPUD_WAKERS)
		subject_add(&subject->wakeups[from], 1);
}

/* Accounts a block that ends now, and who ended it. A block ends, and the wait for a CPU begins,
 * when somebody wakes the thread. */
SUBPROGRAM int block_end(struct task_struct *task, struct thread *thread, __u64 now)
{
	struct account account;
	__u64 since_ns;
	__u32 kind;
	bool idle;

	since_ns = thread->found.asleep_ns;
	kind = thread->found.kind;
	idle = thread->found.idle;
	account = account_of(task, thread, bpf_get_smp_processor_id());
	if (thread->state == THREAD_BLOCKED) {
		since_ns = thread->since_ns;
		kind = thread->kind;
		idle = thread->block.idle;
		account_wait(account, thread, kind, now - since_ns);
		past_note_end(thread, now);
	}
	waking_count(account.subject, thread);
	if (since_ns && (__s64)(now - since_ns) > 0 && now - since_ns > stall_ns &&
	    has_kind(stall_kinds, kind) && !idle)
		stall_end_send(task, thread, since_ns, now);
	thread->waking.waker = 0;
	thread->found.asleep_ns = 0;
	return 0;
}

static __always_inline void thread_queue_woken(struct thread *thread, __u64 now)
{
	thread->kind = OFFCPUD_RUNQ_WAKEUP;
	thread_begin_first(thread, THREAD_RUNNABLE, now);
}

/* Ends a block whose waking was seen before the thread was BLOCKED. */
SUBPROGRAM int thread_requeue(struct task_struct *task, struct thread *thread, __u64 now)
{
	block_end(task, thread, now);
	thread_queue_woken(thread, now);
	return 0;
}

/* Whether a thread of which no event has been seen was asleep. False until all programs are
 * attached, because its switches may not be seen; a walk finds out what the thread does. */
static __always_inline bool task_was_asleep(struct task_struct *task)
{
	return READ_ONCE(attached) && !task->on_cpu &&
	       !stays_runnable(task, false, TASK_INTERRUPTIBLE);
}

/* A block shorter than this is accounted together with the wait for a CPU that follows, at half the
 * cost of accounting each by itself. A longer one is accounted at once: a thread may wait long for
 * a CPU, and meanwhile the block would be missing in the histograms. */
#define ACCOUNT_LATER_NS 1000000

static __always_inline bool block_is_short(struct thread *thread, __u64 now)
{
	__u64 ns = now - thread->since_ns;

	return thread->state == THREAD_BLOCKED && ns < ACCOUNT_LATER_NS && ns <= stall_ns;
}

/* Notes the waking. Returns whether the block is to be accounted now; else the thread is WOKEN, and
 * its switch-in accounts it. */
static __always_inline bool block_ends_now(void *ctx, struct task_struct *task,
					   struct thread *thread, struct task_struct *waker,
					   __u64 now)
{
	waking_set(task, thread, waker, now);
	if (take_samples)
		block_choose(ctx, task, thread);
	if (unlikely(!block_is_short(thread, now)))
		return true;
	smp_store_release(&thread->state, THREAD_WOKEN); /* pairs as in thread_begin() */
	return false;
}

/* The time of a waking. A time before the thread left its CPU is replaced: that CPU read the clock
 * after this one did, or its clock is ahead (CLOCK_STEP_NS). */
static __always_inline __u64 time_not_before(__u64 since_ns, __u64 now)
{
	if (likely((__s64)(now - since_ns) >= 0))
		return now;
	now = bpf_ktime_get_ns();
	return since_ns - now < CLOCK_STEP_NS ? since_ns : now;
}

static __always_inline void thread_wake(void *ctx, struct task_struct *task,
					struct task_struct *waker, __u64 now)
{
	struct thread *thread = thread_of(task);

	if (unlikely(!thread)) {
		loss_add(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	/* Pairs with thread_begin() on the CPU that the thread has left: since_ns, kind and the
	 * group `block` are those of this block. */
	switch (smp_load_acquire(&thread->state)) {
	case THREAD_BLOCKED:
		now = time_not_before(READ_ONCE(thread->since_ns), now);
		if (likely(!block_ends_now(ctx, task, thread, waker, now)))
			return;
		block_end(task, thread, now);
		break;
	case THREAD_FOUND_WAITING:
		if (thread->found.kind >= OFFCPUD_BLOCKED_KINDS)
			return; /* it was in a run queue already */
		block_ends_now(ctx, task, thread, waker, now);
		block_end(task, thread, now);
		break;
	case THREAD_UNKNOWN:
		if (!task_was_asleep(task)) {
			waking_set(task, thread, waker, now);
			return;
		}
		count_add(OFFCPUD_COUNT_LEFT_CENSORED);
		break;
	case THREAD_RUNNING:
	case THREAD_FOUND_RUNNING:
	case THREAD_RUNNABLE:
		/* It is still on its CPU, or leaving it: see woken_too_early(). Or it was preempted
		 * when it was about to sleep. */
		waking_set(task, thread, waker, now);
		return;
	default:
		return;
	}
	thread_queue_woken(thread, now);
}

static __always_inline void thread_queue_new(struct task_struct *task, __u64 now)
{
	struct thread *thread = thread_of(task);

	if (!thread) {
		loss_add(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	/* As in task_was_asleep(). */
	if (thread->state == THREAD_FOUND_WAITING ||
	    (thread->state == THREAD_UNKNOWN && READ_ONCE(attached)))
		thread_queue_woken(thread, now);
}

#endif
