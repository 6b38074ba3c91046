/* SPDX-License-Identifier: GPL-2.0-only */
/* A block ends, or a new thread is queued. */
#ifndef OFFCPUD_WAKE_BPF_H
#define OFFCPUD_WAKE_BPF_H

#include "blame.bpf.h"
#include "cost.bpf.h"
#include "subject.bpf.h"
#include "switch.bpf.h"

/* A block that the daemon wants to hear of is over. */
static __noinline int tell_stall_end(struct task_struct *task, struct thread *thread,
				     __u64 since_ns, __u64 now)
{
	struct offcpud_stall_end *end;

	if (!task || !thread)
		return 0;
	end = bpf_ringbuf_reserve(&stall_ends, sizeof(*end), 0);
	if (!end)
		return lose(OFFCPUD_LOSS_STALL_END);
	end->since_ns = since_ns;
	end->ended_ns = now;
	end->cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	end->tid = task->pid;
	end->tgid = task->tgid;
	end->kind = thread->state == THREAD_BLOCKED ? thread->kind : thread->seeded_kind;
	end->waker = thread->waker ? thread->waker - 1 : OFFCPUD_WAKERS;
	end->waker_tid = thread->waker ? thread->waker_tid : 0;
	end->estimated = thread->state != THREAD_BLOCKED;
	copy_comm(end->comm, task);
	/* The daemon looks at every pass; waking it from here would be one more wakeup. */
	bpf_ringbuf_submit(end, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void end_block(struct task_struct *task, struct thread *thread, __u64 now)
{
	struct offcpud_subject *subject = subject_of(task, thread);
	__u64 since_ns = thread->asleep_ns;
	__u32 kind = thread->seeded_kind, from = thread->waker - 1;

	if (thread->state == THREAD_BLOCKED) {
		since_ns = thread->since_ns;
		kind = thread->kind;
		charge_wait(task, subject, thread, now);
	}
	if (subject && from < OFFCPUD_WAKERS)
		__sync_fetch_and_add(&subject->wakeups[from], 1);
	if (since_ns && now - since_ns > stall_ns && (stall_kinds >> (kind & 31)) & 1 &&
	    !thread->idle)
		tell_stall_end(task, thread, since_ns, now);
	thread->waker = 0;
}

/* A block ends when somebody wakes the thread, which is when its wait for a CPU begins; until it is
 * queued, an interrupt on another CPU may have to come first. One that was woken while it was still
 * about to leave the CPU, or whose sched_waking was not seen, was woken just now. */
static __always_inline __u64 woken_at(struct thread *thread)
{
	__u64 woken_ns = thread->woken_ns;

	if (woken_ns && (__s64)(woken_ns - thread->since_ns) >= 0)
		return woken_ns;
	return bpf_ktime_get_ns();
}

static __always_inline void queue_woken(struct task_struct *task, struct thread *thread, bool first)
{
	__u64 now;

	/* A wakeup that overtakes the sleep, or a second one: the thread has not left the CPU, or
	 * is queued already. */
	if (thread->state == THREAD_RUNNING || thread->state == THREAD_RUNNABLE ||
	    thread->state == THREAD_SEEDED_RUNNING)
		return;
	/* Switches are not followed yet: the walk finds out what becomes of this thread. */
	if (thread->state == THREAD_UNKNOWN && !attached)
		return;
	now = woken_at(thread);
	if (thread->state == THREAD_UNKNOWN && !first) {
		if (task->on_cpu)
			return;
		count(OFFCPUD_COUNT_LEFT_CENSORED);
	}
	if (thread->state == THREAD_BLOCKED || thread->state == THREAD_SEEDED_WAITING)
		end_block(task, thread, now);
	thread->kind = OFFCPUD_RUNQ_WAKEUP;
	mark_queued(thread, task->thread_info.cpu);
	begin(thread, THREAD_RUNNABLE, now);
}

/* Reads no clock where sched_waking has: what decides whether this is timed is when the thread's
 * state began, 0 for a new one. */
static __always_inline int wake(struct task_struct *task, bool first)
{
	struct thread *thread = thread_of(task);
	__u64 begun_ns = 0;

	if (thread && thread->since_ns && is_timed(thread->since_ns ^ 0x55555555)) {
		begun_ns = bpf_ktime_get_ns();
		thread = thread_of(task); /* which the time includes */
	}
	if (!thread)
		return lose(OFFCPUD_LOSS_THREAD_STATE);
	queue_woken(task, thread, first);
	if (begun_ns)
		add_sampled_cost(OFFCPUD_PROGRAM_WAKEUP, begun_ns);
	return 0;
}

#endif
