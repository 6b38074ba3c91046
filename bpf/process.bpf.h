/* SPDX-License-Identifier: GPL-2.0-only */
/* Which process a thread belongs to, and how places for processes are taken and given back. */
#ifndef OFFCPUD_PROCESS_BPF_H
#define OFFCPUD_PROCESS_BPF_H

#include "thread.bpf.h"

/* Set in `threads` of a process that had several threads when it was first seen. So it does not
 * pass for one with a single thread while its threads are still being counted one by one. */
#define NEVER_ALONE 0x40000000

/*
 * Puts an element back on its free list. A list is a map behind a lock, and the kernel gives up on
 * that lock rather than wait without end (EBUSY in an NMI; since 6.15 also EDEADLK and ETIMEDOUT,
 * rqspinlock). So only ENOENT says that a list is empty.
 *
 * Counts an element that cannot be put back: it is lost until the daemon restarts.
 */
static __always_inline void process_put_back(__u32 index)
{
	if (bpf_map_push_elem(&free_processes, &index, BPF_ANY))
		loss_add_inline(OFFCPUD_LOSS_FREE_LIST);
}

static __always_inline void hist_put_back(__u32 hist)
{
	if (bpf_map_push_elem(&free_process_hists, &hist, BPF_ANY))
		loss_add_inline(OFFCPUD_LOSS_FREE_LIST);
}

/* Takes a place for a process, without histograms and threads. 0: there is no room; NO_PROCESS: the
 * list could not be asked. */
static __always_inline __u32 process_take(struct task_struct *leader)
{
	struct offcpud_process *process;
	__u32 index;
	long error = bpf_map_pop_elem(&free_processes, &index);

	if (error)
		return error == -ENOENT ? 0 : NO_PROCESS;
	process = bpf_map_lookup_elem(&processes, &index);
	if (!process)
		return 0;
	process->threads = leader->signal->nr_threads != 1 ? NEVER_ALONE : 0;
	process->start_ns = leader->start_boottime;
	/* Pairs with the acquire in the daemon's ProcessHistograms, which reads tgid first and
	 * again at the end. */
	smp_store_release(&process->tgid, leader->tgid);
	return index;
}

static __always_inline bool process_is_of(__u32 index, struct task_struct *leader)
{
	struct offcpud_process *process = bpf_map_lookup_elem(&processes, &index);

	return process && process->tgid == leader->tgid &&
	       process->start_ns == leader->start_boottime;
}

static __always_inline void process_discard(__u32 index)
{
	struct offcpud_process *process = bpf_map_lookup_elem(&processes, &index);

	if (process)
		process->tgid = 0;
	process_put_back(index);
}

/* The process of a thread group, kept with its leader. 0: none; NO_PROCESS: ask again another time.
 * A thread that calls execve becomes the leader (fs/exec.c, de_thread) and brings along the process
 * that it had. A group that found no room stays out as a whole until a walk admits it: otherwise
 * some of its threads would pass for all of them. */
static __always_inline __u32 process_of_group(struct task_struct *leader, struct thread *thread,
					      bool admit)
{
	__u32 known = thread->owner.group_process, index;

	if (known == NO_PROCESS && !admit)
		return 0;
	if (known && process_is_of(known, leader))
		return known;
	index = thread->owner.process;
	if (index && process_is_of(index, leader))
		return index;
	index = process_take(leader);
	if (index == NO_PROCESS)
		return index;
	if (cmpxchg(&thread->owner.group_process, known, index ? index : NO_PROCESS) == known)
		return index;
	/* Another CPU was first. */
	if (index)
		process_discard(index);
	index = READ_ONCE(thread->owner.group_process);
	return index == NO_PROCESS ? 0 : index;
}

/* Adds a thread to its process. Called at the fork, by the walk, and at an event of a thread that
 * both have missed. Only the walk admits groups that were refused. Kernel threads have no process:
 * 8 to 10 for each CPU would take the places of processes that somebody asks for. Their waits are
 * in the histograms of their cgroup and in the sums of each thread. */
SUBPROGRAM int process_join(struct task_struct *task, struct thread *thread, bool admit)
{
	struct task_struct *leader;
	struct offcpud_process *process;
	struct thread *first;
	__u32 index = 0, known;

	leader = task->group_leader;
	known = thread->owner.process;
	if (task->flags & PF_KTHREAD) {
		cmpxchg(&thread->owner.process, known, NO_PROCESS);
		return 0;
	}
	first = thread;
	if (leader && leader->pid != task->pid)
		first = bpf_task_storage_get(&threads, leader, 0, create_flags);
	if (leader && first)
		index = process_of_group(leader, first, admit);
	if (index == NO_PROCESS)
		return loss_add_inline(OFFCPUD_LOSS_FREE_LIST);
	process = bpf_map_lookup_elem(&processes, &index);
	if (!index || !process) {
		/* Leaves in place what another CPU may have found meanwhile. */
		if (cmpxchg(&thread->owner.process, known, NO_PROCESS) != known ||
		    known == NO_PROCESS)
			return 0;
		return loss_add_inline(OFFCPUD_LOSS_PROCESSES_FULL);
	}
	/* The thread is counted before it is marked: if it ends in between, the count is one too
	 * high, but never too low. */
	atomic_add(&process->threads, 1);
	if (cmpxchg(&thread->owner.process, known, index) != known)
		atomic_add(&process->threads, -1);
	return 0;
}

/*
 * A thread ends. The last one gives the place and the histograms of its process back: no thread
 * that could add to them is left.
 *
 * There is one exception: while the first walk still counts a process's threads, the last one
 * counted so far may end although others live. Then the process gets another place, with histograms
 * from 0 on. A thread that is counted at this very moment may stay with the place that was given
 * back, and share it with whoever takes it next. Both need a thread that ends during the walk,
 * right after it was counted; a place that is never given back would be worse.
 */
SUBPROGRAM int process_leave(struct thread *thread)
{
	struct offcpud_process *process;
	__u32 index, hist;

	index = thread->owner.process;
	process = bpf_map_lookup_elem(&processes, &index);
	if (!index || !process || (fetch_add(&process->threads, -1) & ~NEVER_ALONE) != 1)
		return 0;
	WRITE_ONCE(process->tgid, 0);
	/* Pairs with ProcessHistograms: what is read while tgid is there is this process's. */
	smp_wmb();
	for (__u32 kind = 0; kind < OFFCPUD_HIST_KINDS; kind++) {
		hist = process->hists[kind];
		process->hists[kind] = 0;
		if (hist && hist != OFFCPUD_NO_HIST)
			hist_put_back(hist);
	}
	process_put_back(index);
	return 0;
}

/* The thread's process; NULL: none, or there was no room for it. */
static __always_inline struct offcpud_process *process_of(struct task_struct *task,
							  struct thread *thread)
{
	__u32 index = thread->owner.process;

	if (unlikely(!index)) {
		process_join(task, thread, false);
		index = thread->owner.process;
	}
	return bpf_map_lookup_elem(&processes, &index);
}

#endif
