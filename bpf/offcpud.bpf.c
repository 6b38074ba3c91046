/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side: follows every thread through running, runnable and blocked, and adds each
 * finished wait to a histogram of its cgroup. What the numbers mean: docs/semantics.md.
 *
 * tp_btf programs only: they are not skipped while a map is being updated on the same CPU, as
 * programs on classic tracepoints are (bpf_prog_active), and they need neither kprobes nor ftrace.
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "cgroup_events.bpf.h"
#include "maps.bpf.h"
#include "reason.bpf.h"
#include "subject.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Whether a thread that leaves the CPU is still queued. The tracepoint's prev_state argument is
 * used because task->__state may already be rewritten by a waker. Up to 6.15 the argument is stale
 * when a signal was pending (fixed by 8feb053d5319, 6.16): then the thread is still on the run
 * queue, which delayed dequeue (6.12, 152e11f6df29) alone also leaves a blocked thread on.
 */
static __always_inline bool stays_runnable(struct task_struct *task, bool preempt, __u32 state)
{
	if (preempt || !(state & TASK_SLEEPS))
		return true;
	if (!task->on_rq)
		return false;
	return !(bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed);
}

static __always_inline void leave_cpu(struct task_struct *task, bool preempt, __u32 state,
				      __u64 now)
{
	struct thread *thread = thread_of(task);

	if (!thread) {
		lose(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	if (thread->state == THREAD_RUNNING)
		charge_running(task, thread, thread->since_ns, now);
	else if (thread->state == THREAD_SEEDED_RUNNING)
		charge_running(task, thread, thread->seeded_ns, now);
	else if (thread->state != THREAD_UNKNOWN)
		lose(OFFCPUD_LOSS_SWITCH);

	thread->since_ns = now;
	if (!preempt && (state & TASK_ENDS)) {
		thread->state = THREAD_DEAD;
	} else if (stays_runnable(task, preempt, state)) {
		thread->kind = OFFCPUD_RUNQ_PREEMPTED;
		if (bpf_core_field_exists(task->throttled) && task->throttled)
			thread->kind = OFFCPUD_RUNQ_THROTTLED;
		thread->state = THREAD_RUNNABLE;
	} else {
		thread->kind = reason_of(task, thread, state);
		thread->state = THREAD_BLOCKED;
	}
}

static __always_inline void take_cpu(struct task_struct *task, __u64 now)
{
	struct thread *thread = thread_of(task);

	if (!thread) {
		lose(OFFCPUD_LOSS_THREAD_STATE);
		return;
	}
	switch (thread->state) {
	case THREAD_BLOCKED:
		lose(OFFCPUD_LOSS_WAKEUP);
		charge_wait(task, thread, now);
		break;
	case THREAD_RUNNABLE:
		charge_wait(task, thread, now);
		break;
	case THREAD_UNKNOWN:
		count(OFFCPUD_COUNT_LEFT_CENSORED);
		break;
	case THREAD_SEEDED_WAITING:
		break;
	default:
		lose(OFFCPUD_LOSS_SWITCH);
	}
	thread->since_ns = now;
	thread->state = THREAD_RUNNING;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();

	/* The idle tasks have pid 0, one per CPU; they are nobody's wait. */
	if (prev->pid)
		leave_cpu(prev, preempt, prev_state, now);
	if (next->pid)
		take_cpu(next, now);
	return 0;
}

static __always_inline int wake(struct task_struct *task, bool first)
{
	struct thread *thread = thread_of(task);
	__u64 now;

	if (!thread)
		return lose(OFFCPUD_LOSS_THREAD_STATE);
	/* A wakeup that overtakes the sleep, or a second one: the thread has not left the CPU, or
	 * is queued already. */
	if (thread->state == THREAD_RUNNING || thread->state == THREAD_RUNNABLE ||
	    thread->state == THREAD_SEEDED_RUNNING)
		return 0;
	now = bpf_ktime_get_ns();
	if (thread->state == THREAD_BLOCKED) {
		charge_wait(task, thread, now);
	} else if (thread->state == THREAD_UNKNOWN && !first) {
		if (task->on_cpu)
			return 0;
		count(OFFCPUD_COUNT_LEFT_CENSORED);
	}
	thread->since_ns = now;
	thread->kind = OFFCPUD_RUNQ_WAKEUP;
	thread->state = THREAD_RUNNABLE;
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *task)
{
	return wake(task, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *task)
{
	return wake(task, true);
}

/*
 * The state of a thread is allocated here, in the context of fork. Under the run-queue lock that
 * would not be safe up to 6.3: an allocation in task storage may wake kswapd (GFP_ATOMIC implies
 * __GFP_KSWAPD_RECLAIM), and that wakeup may want the same lock. From 6.4 (08a7ce384e33) it comes
 * from a pre-filled cache; there the daemon sets create_flags, and thread_of() makes up for what
 * neither this program nor the iterator has seen.
 */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *task)
{
	if (!bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		lose(OFFCPUD_LOSS_THREAD_STATE);
	return 0;
}

/* Gives every thread that exists a state, and says of those that no event has reached yet whether
 * they are on a CPU. An event that comes in between wins: it knows better. */
SEC("iter/task")
int seed_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *thread;
	__u32 seeded;

	if (!task || !task->pid)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return lose(OFFCPUD_LOSS_THREAD_STATE);
	if (!attached || thread->state != THREAD_UNKNOWN)
		return 0;
	thread->seeded_ns = bpf_ktime_get_ns();
	seeded = task->on_cpu ? THREAD_SEEDED_RUNNING : THREAD_SEEDED_WAITING;
	if (__sync_val_compare_and_swap(&thread->state, THREAD_UNKNOWN, seeded) == THREAD_UNKNOWN &&
	    seeded == THREAD_SEEDED_WAITING)
		count(OFFCPUD_COUNT_LEFT_CENSORED);
	return 0;
}
