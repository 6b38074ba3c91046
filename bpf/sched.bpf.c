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

	/* The idle tasks have pid 0, one per CPU; they are nobody's wait. */
	if (prev->pid)
		thread_leave_cpu(prev, next, preempt, prev_state, cpu, now);
	if (next->pid)
		thread_take_cpu(next, prev, cpu, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_SWITCH, now);
	return 0;
}

/*
 * Runs in the context of whoever wakes, before the thread is queued anywhere. sched_wakeup, which
 * follows, need not: a thread that slept on another CPU is often queued by that CPU itself, in an
 * interrupt (ttwu_queue_wakelist). Nobody looks there: all that it could add is the CPU.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u64 now;

	if (task == waker)
		return 0; /* by an interrupt, before it has left the CPU: it does not sleep */
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
	__u64 now = bpf_ktime_get_ns();
	struct thread *thread = NULL;

	if (!task->pid)
		return 0; /* the idle task of a CPU that comes online */
	/* In a storm of forks the cache that it comes from may be empty; it is filled by an
	 * interrupt that follows at once. */
	for (int attempt = 0; attempt < 4 && !thread; attempt++)
		thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return loss_add(OFFCPUD_LOSS_THREAD_STATE);
	process_join(task, thread, false);
	cost_add(OFFCPUD_PROGRAM_FORK, now, 1);
	return 0;
}
