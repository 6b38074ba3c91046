/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk over all threads: reports what each does now, and gives those without a state one. */
#include "blame.bpf.h"
#include "process.bpf.h"
#include "reason.bpf.h"
#include "tid.bpf.h"

/* Since when a thread sleeps that went to sleep before its first event. The scheduler notes when it
 * last saw the thread run (update_curr), on the clock of its CPU, which leaves out interrupts and
 * stolen time; what it has left out since then is missing here. 0: unknown. */
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

/* Gives a thread without events a state. An event that comes meanwhile wins: it knows better. */
static __always_inline void thread_set_found(struct task_struct *task, struct thread *thread,
					     __u64 now)
{
	__u32 state = task->__state, found = THREAD_FOUND_WAITING;

	thread->found.ns = now;
	thread->found.kind = OFFCPUD_RUNQ_PREEMPTED;
	if (task->exit_state)
		found = THREAD_DEAD;
	else if (task->on_cpu)
		found = THREAD_FOUND_RUNNING;
	else if (!stays_runnable(task, false, state)) {
		thread->found.asleep_ns = asleep_since(task, now);
		thread->found.kind = reason_of(task, is_kernel_thread(task), state);
		thread->found.task_state = state;
		thread->found.idle = is_idle_wait(is_kernel_thread(task), state);
	}
	/* cmpxchg orders as a release, too: who sees the state sees the group `found`. */
	if (cmpxchg(&thread->state, THREAD_UNKNOWN, found) == THREAD_UNKNOWN &&
	    found == THREAD_FOUND_WAITING)
		count_add(OFFCPUD_COUNT_LEFT_CENSORED);
}

/* A thread that is first seen this soon after its start is taken not to have slept before. */
#define BORN_WITHIN_NS 100000000

/* When the last block of a thread that is not blocked ended or, without one, when the thread began.
 * 0: unknown, because it may have slept before its first event. */
static __always_inline __u64 awake_since(struct task_struct *task, struct thread *thread)
{
	__u64 began_ns = READ_ONCE(thread->block.began_ns);
	__u64 ended_ns = READ_ONCE(thread->block.ended_ns);
	__u64 born_ns = thread->sums.born_ns;

	if (READ_ONCE(thread->state) == THREAD_WOKEN)
		return READ_ONCE(thread->waking.ns);
	if (began_ns)
		return (__s64)(ended_ns - began_ns) >= 0 ? ended_ns : 0;
	/* A walk had found it blocked: its first state that was seen to begin ended this block. */
	if (thread->found.ns && thread->found.kind < OFFCPUD_BLOCKED_KINDS)
		return born_ns;
	return born_ns - task->start_time < BORN_WITHIN_NS ? born_ns : 0;
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
	case THREAD_FOUND_RUNNING:
		record->state = OFFCPUD_THREAD_RUNNING;
		record->since_ns = thread->found.ns;
		record->flags |= OFFCPUD_THREAD_ESTIMATED;
		break;
	case THREAD_FOUND_WAITING:
		record->kind = thread->found.kind;
		idle = thread->found.idle;
		record->state = record->kind < OFFCPUD_BLOCKED_KINDS ? OFFCPUD_THREAD_BLOCKED
								     : OFFCPUD_THREAD_RUNNABLE;
		record->since_ns = thread->found.asleep_ns;
		record->flags |=
			record->since_ns ? OFFCPUD_THREAD_ESTIMATED : OFFCPUD_THREAD_UNKNOWN;
		break;
	default:
		record->state = OFFCPUD_THREAD_ENDED;
	}
	if (record->state == OFFCPUD_THREAD_BLOCKED && idle)
		record->flags |= OFFCPUD_THREAD_IDLE;
	record->awake_ns = record->state < OFFCPUD_THREAD_BLOCKED ? awake_since(task, thread) : 0;
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

/* Reads a thread while other CPUs may change it. If its state began anew meanwhile, it is read
 * again; no thread has needed more than three times. */
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
		smp_rmb(); /* since_ns changes first: see thread_begin() */
		if (READ_ONCE(thread->since_ns) == since_ns)
			break;
	}
}

/* The thread's numbers in the PID namespace of the reader, the daemon. The walk shows only threads
 * that are in it. */
static __always_inline void describe_tids(struct offcpud_thread *record, struct task_struct *task)
{
	unsigned int level = bpf_get_current_task_btf()->thread_pid->level;
	struct pid *pid = task->thread_pid, *leader = task->group_leader->thread_pid;
	__u64 number = 0;

	if (level)
		number = namespace_at(bpf_get_current_task_btf()->thread_pid, level);
	/* Written only when they change: they are the same for all threads, and lie among the
	 * settings that all programs read. */
	if (reader_level != level)
		reader_level = level;
	if (reader_namespace != number)
		reader_namespace = number;
	record->tid = task->pid;
	record->tgid = task->tgid;
	record->local_tid = level ? tid_in(pid, level) : task->pid;
	record->local_tgid = level ? tid_in(leader, level) : task->tgid;
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
		thread_set_found(task, thread, bpf_ktime_get_ns());
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
