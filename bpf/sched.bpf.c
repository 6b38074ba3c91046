/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs on the scheduler's events: all that costs something at every switch and waking.
 *
 * tp_btf programs only: they are not skipped while a map is being updated on the same CPU, as
 * programs on classic tracepoints are (bpf_prog_active), and they need neither kprobes nor ftrace.
 */
#include "cost.bpf.h"
#include "switch.bpf.h"
#include "wake.bpf.h"

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();

	struct cpu_history *history = NULL;
	__u64 taker = OFFCPUD_TAKEN_BY_IDLE;

	/* The idle tasks, one for each CPU, have pid 0. Their time is nobody's wait. */
	if (prev->pid)
		taker = thread_leave_cpu(prev, next, preempt, prev_state, cpu, now);
	if (tell_takers) {
		history = bpf_map_lookup_elem(&histories, &cpu);
		if (!history)
			return 0; /* cannot happen; else the verifier goes through the rest twice */
	}
	if (history)
		history_end_run(history, prev, taker, now);
	if (next->pid)
		thread_take_cpu(next, prev, taker, cpu, history, now);
	if (history)
		history_begin_run(history, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_SWITCH, now);
	return 0;
}

/* Runs in the context of the waker, before the thread is queued anywhere. sched_wakeup, which
 * follows, may run elsewhere: a thread that slept on another CPU is often queued by that CPU, in an
 * interrupt (ttwu_queue_wakelist). All that it could add is the CPU, so nobody attaches to it. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u64 now;

	if (task == waker)
		return 0; /* by an interrupt of the thread itself, which does not sleep yet */
	now = bpf_ktime_get_ns();
	thread_wake(ctx, task, waker, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_WAKING, now);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();

	thread_queue_new(task, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_WAKEUP_NEW, now);
	return 0;
}

/* The state of a thread is allocated at its fork. Up to 6.3 an allocation under the run-queue lock
 * is not safe: task storage may wake kswapd (GFP_ATOMIC implies __GFP_KSWAPD_RECLAIM), and that
 * waking may want the same lock. Since 6.4 (08a7ce384e33) it comes from a cache that is filled
 * before; there the daemon sets create_flags, and thread_of() makes the state of a thread that
 * neither this program nor a walk has seen. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_task_newtask, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *thread = NULL;

	if (!task->pid)
		return 0; /* the idle task of a CPU that comes online */
	/* The cache may be empty in a storm of forks. An interrupt fills it at once. */
	for (int attempt = 0; attempt < 4 && !thread; attempt++)
		thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return loss_add(OFFCPUD_LOSS_THREAD_STATE);
	process_join(task, thread, false);
	cost_add(OFFCPUD_PROGRAM_FORK, now, 1);
	return 0;
}
