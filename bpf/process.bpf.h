/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of processes: whose a thread is, and their coming and going. */
#ifndef OFFCPUD_PROCESS_BPF_H
#define OFFCPUD_PROCESS_BPF_H

#include "thread.bpf.h"

/* Set in `threads` of a process that had several threads when it was first seen, so that it is not
 * taken for one with a single thread, nor freed, while they are still being counted one by one. */
#define NEVER_ALONE 0x40000000

/* A free list is a map behind a lock. The kernel gives up on the lock rather than waiting without
 * end (EBUSY in an NMI; from 6.15 on also EDEADLK and ETIMEDOUT, rqspinlock): an error that is not
 * ENOENT does not say that the list is empty.
 *
 * An element that cannot be given back belongs to nobody from then on, until the daemon restarts.
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

/* A process with no histogram and no thread yet; 0 if there is no room, NO_PROCESS if nobody knows.
 */
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
	/* Pairs with the daemon's ProcessReader, which reads it first and again at the end. */
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

/* The process of a group of threads, kept with its leader; 0 if there is none, NO_PROCESS if that
 * is to be found out another time. A thread that calls execve becomes the leader (fs/exec.c,
 * de_thread) and brings along what it had as a mere thread. A group that there was no room for
 * stays out as a whole, so that nobody takes a part of it for all of it, until the walk lets it in.
 */
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

/* Makes a thread one of its process's. Called at a fork and by the walk, which alone admits groups
 * that were refused; at an event only for a thread that both have missed. Threads of the kernel
 * have no process: they would take the places of those that people ask for (8 to 10 for each CPU),
 * and what they wait is in the histograms of their cgroup and in the sums of each thread. */
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
		/* Not over what another CPU, that was luckier, has found meanwhile. */
		if (cmpxchg(&thread->owner.process, known, NO_PROCESS) != known ||
		    known == NO_PROCESS)
			return 0;
		return loss_add_inline(OFFCPUD_LOSS_PROCESSES_FULL);
	}
	/* Counted first: a thread that ends between the two would be one too many else. */
	atomic_add(&process->threads, 1);
	if (cmpxchg(&thread->owner.process, known, index) != known)
		atomic_add(&process->threads, -1);
	return 0;
}

/* A thread is over. With the last one its process's place and histograms are free again: nobody is
 * left who could charge them. */
SUBPROGRAM int process_leave(struct thread *thread)
{
	struct offcpud_process *process;
	__u32 index, hist;

	index = thread->owner.process;
	process = bpf_map_lookup_elem(&processes, &index);
	if (!index || !process || (fetch_add(&process->threads, -1) & ~NEVER_ALONE) != 1)
		return 0;
	WRITE_ONCE(process->tgid, 0);
	smp_wmb(); /* pairs with ProcessReader: no histogram is another's while this says whose */
	for (__u32 kind = 0; kind < OFFCPUD_HIST_KINDS; kind++) {
		hist = process->hists[kind];
		process->hists[kind] = 0;
		if (hist && hist != OFFCPUD_NO_HIST)
			hist_put_back(hist);
	}
	process_put_back(index);
	return 0;
}

/* The thread's process, NULL if there was no room for it. */
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
