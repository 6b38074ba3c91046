/* SPDX-License-Identifier: GPL-2.0-only */
/* Which subject a thread's time is accounted to, and the accounting. */
#ifndef OFFCPUD_SUBJECT_BPF_H
#define OFFCPUD_SUBJECT_BPF_H

#include "thread.bpf.h"
#include "histogram.bpf.h"

/* How often another CPU may take a subject just before this one does. Hundreds of CPUs may find new
 * cgroups at once, when a node starts its containers. */
#define TAKE_ATTEMPTS 16

/* Takes a free subject. OFFCPUD_SUBJECT_OTHER: there is none, or others were faster every time;
 * each has its own loss. The thread's next event asks again. */
static __always_inline __u32 subject_take_free(void)
{
	__u32 zero = 0, *spare = bpf_map_lookup_elem(&spare_subject, &zero);
	__u32 subject = OFFCPUD_SUBJECT_OTHER;
	__u64 head, found;

	if (spare && *spare) {
		subject = *spare;
		*spare = 0;
		return subject;
	}
	head = READ_ONCE(free_head);
#pragma clang loop unroll(disable)
	for (int i = 0; i < TAKE_ATTEMPTS; i++) {
		__u32 slot = head & free_mask, *free;

		/* Pairs with the release in BpfReadingSource::release: entries before the tail can
		 * be read. */
		if (head >= smp_load_acquire(&free_tail)) {
			loss_add(OFFCPUD_LOSS_SUBJECTS_FULL);
			return OFFCPUD_SUBJECT_OTHER;
		}
		free = bpf_map_lookup_elem(&free_subjects, &slot);
		if (!free)
			return OFFCPUD_SUBJECT_OTHER; /* cannot happen; for the verifier */
		subject = *free;
		found = cmpxchg(&free_head, head, head + 1);
		if (found == head)
			return subject;
		head = found;
	}
	loss_add(OFFCPUD_LOSS_SUBJECTS_BUSY);
	return OFFCPUD_SUBJECT_OTHER;
}

static __always_inline void subject_set_owner(__u32 subject, __u64 cgroup_id)
{
	for (__u32 shard = 0; shard < OFFCPUD_MAX_SHARDS && shard < shards; shard++) {
		__u32 index = subject * shards + shard;
		struct offcpud_subject *part = bpf_map_lookup_elem(&subjects, &index);

		if (part)
			part->cgroup_id = cgroup_id;
	}
}

/* Finds the subject of a cgroup, or takes one for it. A global function: it takes and returns
 * numbers, so the verifier goes through it once and not at every call. */
__noinline __u32 subject_of_cgroup(__u64 cgroup_id)
{
	__u32 zero = 0, subject, *known, *spare;
	long error;

	known = bpf_map_lookup_elem(&cgroup_subjects, &cgroup_id);
	if (known)
		return *known;
	subject = subject_take_free();
	if (subject == OFFCPUD_SUBJECT_OTHER)
		return subject;
	subject_set_owner(subject, cgroup_id);
	error = bpf_map_update_elem(&cgroup_subjects, &cgroup_id, &subject, BPF_NOEXIST);
	if (!error)
		return subject;

	/* Another CPU was first, or the table refused (E2BIG: no room; EBUSY and since 6.15 EDEADLK
	 * and ETIMEDOUT: no lock). The next cgroup gets this subject; until then nobody may take it
	 * for this one's. */
	subject_set_owner(subject, 0);
	spare = bpf_map_lookup_elem(&spare_subject, &zero);
	if (spare)
		*spare = subject;
	known = bpf_map_lookup_elem(&cgroup_subjects, &cgroup_id);
	if (known)
		return *known;
	loss_add(error == -E2BIG ? OFFCPUD_LOSS_SUBJECTS_FULL : OFFCPUD_LOSS_SUBJECTS_BUSY);
	return OFFCPUD_SUBJECT_OTHER;
}

static __always_inline struct offcpud_subject *subject_shard(__u32 first, __u32 cpu)
{
	__u32 index = first + (own_shards ? cpu : ((__u64)cpu * shards) >> cpu_bits);

	return bpf_map_lookup_elem(&subjects, &index);
}

/* Adds to a counter of a subject. Interrupts are off, so with a shard for each CPU nobody else
 * adds. An atomic addition would take a third as long as all other work of accounting a wait. */
static __always_inline void subject_add(__u64 *counter, __u64 amount)
{
	if (own_shards)
		*counter += amount;
	else
		atomic_add(counter, amount);
}

SUBPROGRAM struct offcpud_subject *subject_look_up(struct thread *thread, __u64 cgroup_id,
						   __u32 cpu)
{
	thread->owner.subject = subject_of_cgroup(cgroup_id) * shards;
	return subject_shard(thread->owner.subject, cpu);
}

/* The subject of the thread's cgroup. A thread remembers its last one, and a subject remembers
 * whose it is: when the daemon has given it to another cgroup, the ids differ and a new one is
 * looked up. A cgroup v2 id is unique while the machine runs (generation and number,
 * fs/kernfs/dir.c), so ids can be compared where pointers to a css_set could not. */
static __always_inline struct offcpud_subject *subject_of(struct task_struct *task,
							  struct thread *thread, __u32 cpu)
{
	__u64 cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	struct offcpud_subject *part = subject_shard(thread->owner.subject, cpu);

	if (likely(part && part->cgroup_id == cgroup_id))
		return part;
	return subject_look_up(thread, cgroup_id, cpu);
}

/* While the kernel adjusts the clock, another CPU may be ahead (ktime_get_mono_fast_ns,
 * kernel/time/timekeeping.c): by the change of rate, at most 500 ppm (MAXFREQ,
 * include/linux/timex.h), times the age of the last update, which on a busy virtual machine may be
 * 20 ms. A wait that begins there and ends here within this step took no time; a larger difference
 * is an error and is counted. */
#define CLOCK_STEP_NS 10000

/* The length to account in place of a negative one: 0, or a negative number if nothing is to be
 * accounted. A global function, like subject_of_cgroup(): to the verifier the result may be any
 * number, so it follows one path from there on instead of two. */
__noinline __u64 length_of_step(__u64 ns)
{
	if (-ns < CLOCK_STEP_NS)
		return 0;
	loss_add(OFFCPUD_LOSS_CLOCK);
	return ns;
}

/* Below, `subject` is that of the task. NULL cannot happen; the verifier does not know that. */
static __always_inline void account_running(struct offcpud_subject *subject, struct thread *thread,
					    __u64 since_ns, __u64 now)
{
	__u64 ns = now - since_ns;

	if (unlikely((__s64)ns < 0)) {
		length_of_step(ns);
		return;
	}
	thread->sums.running_ns += ns;
	if (subject)
		subject_add(&subject->running_ns, ns);
}

/* Where a wait is accounted. */
struct account {
	struct offcpud_subject *subject;
	struct offcpud_process *process;
};

static __always_inline struct account account_of(struct task_struct *task, struct thread *thread,
						 __u32 cpu)
{
	return (struct account){subject_of(task, thread, cpu), process_of(task, thread)};
}

/* Accounts a wait that is over. Returns its length; 0 if it came out negative. */
static __always_inline __u64 account_wait(struct account account, struct thread *thread, __u32 kind,
					  __u64 ns)
{
	__u32 slot;

	if (unlikely((__s64)ns < 0)) {
		ns = length_of_step(ns);
		if ((__s64)ns < 0)
			return 0;
	}
	slot = offcpud_slot(ns);
	if (!account.subject || kind >= OFFCPUD_HIST_KINDS || slot >= OFFCPUD_SLOTS)
		return 0; /* cannot happen; for the verifier */
	hist_add(&account.subject->hists[kind], own_shards, slot, ns);
	thread->sums.waits_ns[kind] += ns;
	process_add(account.process, kind, slot, ns);
	return ns;
}

/* A thread ends: adds what is in none of its sums to unaccounted_ns. */
SUBPROGRAM int account_missing(struct offcpud_subject *subject, struct thread *thread, __u64 now)
{
	__u64 missing;

	if (!subject || !thread->sums.born_ns)
		return 0; /* none of its states was seen to begin */
	missing = now - thread->sums.born_ns - thread->sums.running_ns;
	for (int kind = 0; kind < OFFCPUD_HIST_KINDS; kind++)
		missing -= thread->sums.waits_ns[kind];
	if (missing)
		subject_add(&subject->unaccounted_ns, missing);
	return 0;
}

#endif
