/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk over all threads: what each is in at the moment, and a state for those without. */
#include "blame.bpf.h"
#include "thread.bpf.h"
#include "process.bpf.h"
#include "reason.bpf.h"
#include "tid.bpf.h"

/* Since when a thread has slept that went to sleep before anybody looked: the scheduler notes when
 * it last saw it run (update_curr), on the clock of its CPU without interrupts and stolen time.
 * What that clock has left out since then is missing here. 0: it cannot be told. */
static __always_inline __u64 asleep_since(struct task_struct *task, __u64 now)
{
	struct rq *here, *there;
	__u64 age;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !task->se.exec_start)
		return 0;
	here = bpf_get_current_task_btf()->se.cfs_rq->rq;
	there = task->se.cfs_rq->rq;
	age = here->clock - (task->se.exec_start + (there->clock - there->clock_task));
	return age < now ? now - age : 0;
}

/* An event that comes in between wins: it knows better. */
static __always_inline void thread_seed(struct task_struct *task, struct thread *thread, __u64 now)
{
	__u32 state = task->__state, seeded = THREAD_SEEDED_WAITING;

	thread->seeded.ns = now;
	thread->seeded.kind = OFFCPUD_RUNQ_PREEMPTED;
	if (task->exit_state)
		seeded = THREAD_DEAD;
	else if (task->on_cpu)
		seeded = THREAD_SEEDED_RUNNING;
	else if (!stays_runnable(task, false, state)) {
		thread->seeded.asleep_ns = asleep_since(task, now);
		thread->seeded.kind = reason_of(task, thread, &thread->seeded.syscall_class,
						is_kernel_thread(task), state);
		thread->seeded.task_state = state;
		thread->seeded.idle = is_idle_wait(is_kernel_thread(task), state);
	}
	/* Whoever sees the new state sees what was written before it. */
	if (cmpxchg(&thread->state, THREAD_UNKNOWN, seeded) == THREAD_UNKNOWN &&
	    seeded == THREAD_SEEDED_WAITING)
		count_add(OFFCPUD_COUNT_LEFT_CENSORED);
}

static __always_inline void describe_state(struct offcpud_thread *record, struct task_struct *task,
					   struct thread *thread)
{
	__u32 state = smp_load_acquire(&thread->state); /* pairs with thread_begin() */
	bool idle = READ_ONCE(thread->block.idle);

	record->since_ns = READ_ONCE(thread->since_ns);
	record->kind = READ_ONCE(thread->kind);
	switch (state) {
	case THREAD_RUNNING:
		record->state = OFFCPUD_THREAD_RUNNING;
		break;
	case THREAD_RUNNABLE:
		record->state = OFFCPUD_THREAD_RUNNABLE;
		break;
	case THREAD_BLOCKED:
		record->state = OFFCPUD_THREAD_BLOCKED;
		if (thread_is_awake(task, thread)) {
			record->state = OFFCPUD_THREAD_RUNNABLE;
			record->kind = OFFCPUD_RUNQ_WAKEUP;
		}
		break;
	case THREAD_WOKEN:
		record->state = OFFCPUD_THREAD_RUNNABLE;
		record->since_ns = READ_ONCE(thread->waking.ns);
		record->kind = OFFCPUD_RUNQ_WAKEUP;
		break;
	case THREAD_SEEDED_RUNNING:
		record->state = OFFCPUD_THREAD_RUNNING;
		record->since_ns = thread->seeded.ns;
		record->flags |= OFFCPUD_THREAD_ESTIMATED;
		break;
	case THREAD_SEEDED_WAITING:
		record->kind = thread->seeded.kind;
		idle = thread->seeded.idle;
		record->state = record->kind < OFFCPUD_BLOCKED_KINDS ? OFFCPUD_THREAD_BLOCKED
								     : OFFCPUD_THREAD_RUNNABLE;
		record->since_ns = thread->seeded.asleep_ns;
		record->flags |=
			record->since_ns ? OFFCPUD_THREAD_ESTIMATED : OFFCPUD_THREAD_UNKNOWN;
		break;
	default:
		record->state = OFFCPUD_THREAD_ENDED;
	}
	if (record->state == OFFCPUD_THREAD_BLOCKED && idle)
		record->flags |= OFFCPUD_THREAD_IDLE;
}

static __always_inline void describe_past(struct offcpud_thread *record, struct thread *thread)
{
	__u64 missing;

	record->running_ns = READ_ONCE(thread->sums.running_ns);
	missing = READ_ONCE(thread->since_ns) - thread->sums.born_ns - record->running_ns;
	for (int kind = 0; kind < OFFCPUD_HIST_KINDS; kind++) {
		record->waits_ns[kind] = READ_ONCE(thread->sums.waits_ns[kind]);
		missing -= record->waits_ns[kind];
	}
	record->unaccounted_ns = thread->sums.born_ns ? missing : 0;
	for (int by = 0; by < OFFCPUD_TAKERS; by++)
		record->kept_off_ns[by] = READ_ONCE(thread->sums.kept_off_ns[by]);
	record->longest_wait_ns = READ_ONCE(thread->longest_wait.ns);
	record->taker_tid = thread->last_taker.tid;
	record->longest_taker_tid = thread->longest_wait.taker.tid;
	__builtin_memcpy(record->taker_comm, thread->last_taker.comm, OFFCPUD_COMM);
	__builtin_memcpy(record->longest_taker_comm, thread->longest_wait.taker.comm, OFFCPUD_COMM);
}

/* Hooks on other CPUs may write meanwhile. A thread whose state changed while it was read is read
 * again; three times is more than any has needed. */
static __always_inline void describe_consistently(struct offcpud_thread *record,
						  struct task_struct *task, struct thread *thread)
{
	__u32 flags = record->flags;

	for (int attempt = 0; attempt < 3; attempt++) {
		__u64 since_ns = READ_ONCE(thread->since_ns);

		smp_rmb();
		record->flags = flags;
		record->now_ns = bpf_ktime_get_ns();
		describe_past(record, thread);
		describe_state(record, task, thread);
		smp_rmb(); /* since_ns is the first that changes: see thread_begin() */
		if (READ_ONCE(thread->since_ns) == since_ns)
			break;
	}
}

/* The tids in the PID namespace of whoever reads, the daemon, and in the thread's own. The walk
 * shows only threads that exist in the former. */
static __always_inline void describe_tids(struct offcpud_thread *record, struct task_struct *task)
{
	unsigned int level = bpf_get_current_task_btf()->thread_pid->level;
	struct pid *pid = task->thread_pid, *leader = task->group_leader->thread_pid;
	__u64 namespace = 0;

	if (level)
	namespace = namespace_at(bpf_get_current_task_btf()->thread_pid, level);
	/* The same for every thread of every walk, and among the settings, which all hooks read. */
	if (reader_level != level)
		reader_level = level;
	if (reader_namespace != namespace)
		reader_namespace = namespace;
	record->tid = task->pid;
	record->tgid = task->tgid;
	record->local_tid = level ? tid_in(pid, level) : task->pid;
	record->local_tgid = level ? tid_in(leader, level) : task->tgid;
	record->inner_tid = pid->level ? tid_in(pid, pid->level) : task->pid;
}

SEC("iter/task")
int walk_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct offcpud_thread record = {};
	struct thread *thread;

	if (!task || !task->pid)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return loss_add(OFFCPUD_LOSS_THREAD_STATE);
	if (!READ_ONCE(attached))
		return 0;
	if (READ_ONCE(thread->state) == THREAD_UNKNOWN)
		thread_seed(task, thread, bpf_ktime_get_ns());
	if ((!thread->owner.process || thread->owner.process == NO_PROCESS) &&
	    READ_ONCE(thread->state) != THREAD_DEAD)
		process_join(task, thread, true);

	if (is_kernel_thread(task))
		record.flags |= OFFCPUD_THREAD_KERNEL;
	if (task->nr_cpus_allowed == 1)
		record.flags |= OFFCPUD_THREAD_PINNED;
	describe_consistently(&record, task, thread);
	describe_tids(&record, task);
	record.start_ns = task->start_boottime;
	record.process_start_ns = task->group_leader->start_boottime;
	record.cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	record.kernel_running_ns = task->se.sum_exec_runtime;
	record.process = thread->owner.process == NO_PROCESS ? 0 : thread->owner.process;
	record.cpu = task->thread_info.cpu;
	copy_comm(record.comm, task);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
