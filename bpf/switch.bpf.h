/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread leaves the CPU, a thread takes it: one state ends and another begins. */
#ifndef OFFCPUD_SWITCH_BPF_H
#define OFFCPUD_SWITCH_BPF_H

#include "blame.bpf.h"
#include "reason.bpf.h"
#include "sample.bpf.h"
#include "subject.bpf.h"

/* Up to 6.17 a group whose runtime is used up leaves the run queue as a whole (CFS bandwidth,
 * throttle_cfs_rq) before the switch is traced; since then each task says it itself. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (bpf_core_field_exists(struct cfs_rq, throttle_count) && task->prio >= MAX_RT_PRIO)
		return task->se.cfs_rq->throttle_count > 0;
	return false;
}

static __always_inline void begin(struct thread *thread, __u32 state, __u64 now)
{
	thread->since_ns = now;
	thread->state = state;
	if (!thread->born_ns)
		thread->born_ns = now;
}

static __always_inline void queue_again(struct task_struct *task, struct task_struct *next,
					struct offcpud_subject *subject, struct thread *thread)
{
	__u32 by;

	if (is_throttled(task)) {
		thread->kind = OFFCPUD_RUNQ_THROTTLED;
		return;
	}
	thread->kind = OFFCPUD_RUNQ_PREEMPTED;
	if (!next->pid) {
		thread->taker.tid = 0; /* nobody: it is about to be moved, or held back */
		return;
	}
	by = taker_of(task, next);
	remember_taker(&thread->taker, next, by);
	if (subject && by < OFFCPUD_TAKERS)
		__sync_fetch_and_add(&subject->preemptions[by], 1);
}

static __always_inline void leave_cpu(struct task_struct *task, struct task_struct *next,
				      bool preempt, __u32 state, __u64 now)
{
	struct thread *thread = thread_of(task);
	struct offcpud_subject *subject;

	if (!thread) {
		lose(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	subject = subject_of(task, thread);
	if (thread->state == THREAD_RUNNING) {
		charge_running(subject, thread, thread->since_ns, now);
		if (task->flags & PF_KTHREAD)
			add_kernel_time(now - thread->since_ns);
	} else if (thread->state == THREAD_SEEDED_RUNNING) {
		thread->born_ns = thread->seeded_ns;
		charge_running(subject, thread, thread->seeded_ns, now);
	} else if (thread->state != THREAD_UNKNOWN) {
		lose(OFFCPUD_LOSS_SWITCH);
	}

	if (!preempt && (state & TASK_ENDS)) {
		close_books(subject, thread, now);
		leave_process(thread);
		if (thread->chosen)
			drop_chosen(task, thread);
		begin(thread, THREAD_DEAD, now);
	} else if (stays_runnable(task, preempt, state)) {
		queue_again(task, next, subject, thread);
		mark_queued(thread, bpf_get_smp_processor_id());
		begin(thread, THREAD_RUNNABLE, now);
	} else {
		thread->kind = reason_of(task, thread, state);
		thread->idle = is_idle_wait(task, state);
		thread->task_state = state;
		thread->credited_ns = 0;
		begin(thread, THREAD_BLOCKED, now);
	}
}

static __always_inline void take_cpu(struct task_struct *task, struct task_struct *prev, __u64 now)
{
	struct thread *thread = thread_of(task);

	if (!thread) {
		lose(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	switch (thread->state) {
	case THREAD_BLOCKED:
		lose(OFFCPUD_LOSS_WAKEUP);
		charge_wait(task, subject_of(task, thread), thread, now);
		break;
	case THREAD_RUNNABLE:
		blame(task, thread, prev, charge_wait(task, subject_of(task, thread), thread, now));
		break;
	case THREAD_UNKNOWN:
		count(OFFCPUD_COUNT_LEFT_CENSORED);
		break;
	case THREAD_SEEDED_WAITING:
		break;
	default:
		lose(OFFCPUD_LOSS_SWITCH);
	}
	begin(thread, THREAD_RUNNING, now);
	want_stacks(task, thread);
}

#endif
