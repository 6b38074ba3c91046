/* SPDX-License-Identifier: GPL-2.0-only */
/* Who has had each CPU lately, and thus kept waiting threads off it. */
#ifndef OFFCPUD_HISTORY_BPF_H
#define OFFCPUD_HISTORY_BPF_H

#include "kept_off.h"
#include "subject.bpf.h"

/* A run: who had the CPU, and until when. */
struct run {
	__u64 until_ns; /* it began when the one before ended */
	__u64 taker;	/* cgroup id, or one of OFFCPUD_TAKEN_BY_... */
	__u64 task;	/* address of its task_struct, which may have been freed since */
	__u32 tid;	/* 0: idle */
	__u32 reserved;
};

#define HISTORY_RUNS 512 /* a power of two */

/* How long each thread kept another one off, within one wait; see taker_vote(). */
struct vote {
	__u64 ns;
	__u64 task;
	__u32 tid;
	__u32 wait; /* cpu_history.waits of the wait that it is for */
};
#define VOTES 16 /* a power of two */

/*
 * The last runs of a CPU, in a ring. Each run has a place of its own as long as the ring reaches
 * back to the beginning of the waits that end on this CPU. If it does not, successive runs shorter
 * than short_ns share a place. A shared place names one of its runs, drawn at random in proportion
 * to their lengths, so each taker's time is right on average. It covers at most 2 * short_ns.
 *
 * Only sched_switch uses it, on its own CPU, with the run-queue lock.
 */
struct cpu_history {
	__u64 head;	   /* place of the current run; or of the last one, if both may share it */
	__u64 begun_ns;	   /* when the first run of that place began */
	__u64 switched_ns; /* when the last run ended */
	__u64 short_ns;
	__u64 needed_ns; /* the longest recent wait in which several threads had the CPU */
	__u32 waits;	 /* such waits so far */
	__u32 most;	 /* index in `votes`: who had the CPU for most of the last such wait */
	struct run runs[HISTORY_RUNS];
	struct vote votes[VOTES];
};
#define MOST_SHORT_NS 2000000

/* Resized before load: possible CPUs. An ordinary array, because its look-up is inlined. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_history);
} histories SEC(".maps");

/* Resized before load, as `subjects`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_kept_off_times);
} kept_off SEC(".maps");

static __always_inline struct run *history_run(struct cpu_history *history, __u64 at)
{
	return &history->runs[at & (HISTORY_RUNS - 1)];
}

/* Adjusts short_ns, each time that the ring has been filled. */
SUBPROGRAM int history_adjust(struct cpu_history *history, __u64 now)
{
	__u64 reach = now - history_run(history, history->head)->until_ns;
	__u64 enough = history->needed_ns * 2;

	if (reach < enough)
		history->short_ns = history->short_ns / 2 + enough / HISTORY_RUNS;
	else if (reach > 4 * enough)
		history->short_ns /= 2;
	if (history->short_ns > MOST_SHORT_NS)
		history->short_ns = MOST_SHORT_NS;
	history->needed_ns -= history->needed_ns / 8;
	return 0;
}

static __always_inline void history_advance(struct cpu_history *history, __u64 now)
{
	history->begun_ns = now;
	history->head++;
	if (unlikely(!(history->head & (HISTORY_RUNS - 1))))
		history_adjust(history, now);
}

/* Whether the place at `head` is to name the run that ends now. A long run gets the next place. A
 * short one shares the place of those before it, and names it if it is drawn. */
SUBPROGRAM bool history_draw(struct cpu_history *history, __u64 now)
{
	__u64 ns = now - history->switched_ns, all = now - history->begun_ns;

	if (ns >= history->short_ns) {
		history_advance(history, history->switched_ns);
		return true;
	}
	/* As in cost_is_timed(). `all` is below 2 * MOST_SHORT_NS. */
	return (__u64)((__u32)now * 2654435769U) * all < ns << 32;
}

/* Ends the run of `task`, which leaves the CPU. */
static __always_inline void history_end_run(struct cpu_history *history, struct task_struct *task,
					    __u64 taker, __u64 now)
{
	struct run *run;
	bool shared = history->begun_ns != history->switched_ns;

	if (unlikely(shared) && !history_draw(history, now)) {
		history_run(history, history->head)->until_ns = now;
		return;
	}
	run = history_run(history, history->head);
	run->until_ns = now;
	run->taker = taker;
	run->task = (__u64)task;
	run->tid = task->pid;
}

/* Begins the next run, at a place of its own unless it may share that of the last one. */
static __always_inline void history_begin_run(struct cpu_history *history, __u64 now)
{
	history->switched_ns = now;
	if (likely(now - history->begun_ns >= history->short_ns))
		history_advance(history, now);
}

/* Adds to the time for which the cgroup `taker` kept this one off; to OTHER if it has no room. */
__noinline int taker_add(struct offcpud_kept_off_times *times, __u64 taker, __u64 ns)
{
	__u32 window = READ_ONCE(taker_window) & (OFFCPUD_TAKER_WINDOWS - 1);
	__u32 first = taker * 0x9e3779b97f4a7c15ULL >> 32;

	if (!times)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < OFFCPUD_TAKER_PLACES; i++) {
		struct offcpud_taker_time *time =
			&times->takers[window][(first + i) & (OFFCPUD_TAKER_PLACES - 1)];
		__u64 found = READ_ONCE(time->cgroup_id);

		if (!found) {
			found = cmpxchg(&time->cgroup_id, 0, taker);
			if (!found)
				found = taker;
		}
		if (found == taker) {
			subject_add(&time->ns, ns);
			return 0;
		}
	}
	subject_add(&times->refused, 1);
	subject_add(&times->sums_ns[OFFCPUD_KEPT_OFF_OTHER], ns);
	return 0;
}

static __always_inline struct offcpud_kept_off_times *kept_off_shard(__u32 first, __u32 cpu)
{
	__u32 index = first + (own_shards ? cpu : ((__u64)cpu * shards) >> cpu_bits);

	return bpf_map_lookup_elem(&kept_off, &index);
}

/* Accounts a part of a wait for the CPU to whoever had it meanwhile. A global function: the
 * verifier goes through it once, not for each path on which a switch gets here. */
__noinline int kept_off_add(struct offcpud_kept_off_times *times, __u64 cgroup_id,
			    struct thread *thread, __u64 taker, __u64 ns)
{
	__u64 special = ~taker;

	if (!times || !thread)
		return 0; /* cannot happen; for the verifier */
	/* Makes the compiler compare the complement itself, not `taker`: the verifier of 6.1 knows
	 * the bounds only of the register that is compared. */
	asm volatile("" : "+r"(special));
	if (likely(taker == cgroup_id)) {
		subject_add(&times->sums_ns[OFFCPUD_KEPT_OFF_SAME], ns);
		thread->sums.kept_off_ns[OFFCPUD_BY_SAME_CGROUP] += ns;
	} else if (special < OFFCPUD_KEPT_OFF_SUMS) {
		subject_add(&times->sums_ns[special], ns);
		if (special == OFFCPUD_KEPT_OFF_KERNEL)
			thread->sums.kept_off_ns[OFFCPUD_BY_KERNEL] += ns;
		else if (special == OFFCPUD_KEPT_OFF_OTHER)
			thread->sums.kept_off_ns[OFFCPUD_BY_OTHER_CGROUP] += ns;
	} else {
		taker_add(times, taker, ns);
		thread->sums.kept_off_ns[OFFCPUD_BY_OTHER_CGROUP] += ns;
	}
	return 0;
}

/* Adds to the time for which a thread kept the waiting one off. Threads that share an element of
 * `votes` subtract from each other, so it keeps the one that has more than all others together
 * (Misra and Gries, Science of Computer Programming 2, 1982). */
static __always_inline void taker_vote(struct cpu_history *history, const struct run *run, __u64 ns)
{
	__u32 at = run->tid & (VOTES - 1);
	struct vote *vote = &history->votes[at], *most;

	if (vote->wait == history->waits && vote->tid == run->tid) {
		vote->ns += ns;
	} else if (vote->wait == history->waits && vote->ns >= ns) {
		vote->ns -= ns;
		return;
	} else {
		vote->ns = vote->wait == history->waits ? ns - vote->ns : ns;
		vote->wait = history->waits;
		vote->tid = run->tid;
		vote->task = run->task;
	}
	most = &history->votes[history->most & (VOTES - 1)];
	if (most->wait != history->waits || vote->ns > most->ns)
		history->most = at;
}

/* Accounts the part of a wait in which the run `at` had the CPU. A global function: the verifier
 * goes through it once, not for each round of the loop below. */
__noinline int run_account(struct thread *thread, struct cpu_history *history, __u32 cpu, __u32 at,
			   __u64 ns)
{
	struct offcpud_kept_off_times *times;
	struct offcpud_subject *subject;
	struct run *run;

	if (!thread || !history)
		return 0;
	subject = subject_shard(thread->owner.subject, cpu);
	times = kept_off_shard(thread->owner.subject, cpu);
	if (!subject || !times)
		return 0; /* cannot happen; for the verifier */
	run = history_run(history, at);
	kept_off_add(times, subject->cgroup_id, thread, run->taker, ns);
	if (run->tid)
		taker_vote(history, run, ns);
	return 0;
}

/* Sets the name of a thread that may have ended. Its memory may be another thread's by now, or
 * nobody's: then loads yield arbitrary values, and the tid differs. */
SUBPROGRAM int taker_set_name(struct taker *taker, __u64 address)
{
	struct task_struct *task = (struct task_struct *)address;
	__u32 tid = 0;

	taker->comm[0] = 0;
	if (CAN_CAST) {
		cast_two_words(task->comm, (__u64 *)taker->comm);
		tid = cast_int(&task->pid);
	} else if (read_files) {
		bpf_probe_read_kernel(taker->comm, OFFCPUD_COMM, &task->comm);
		bpf_probe_read_kernel(&tid, sizeof(tid), &task->pid);
	}
	if (tid != taker->tid)
		taker->comm[0] = 0;
	return 0;
}

/* Notes who had the CPU for most of a wait of this length. */
static __always_inline void thread_set_taker(struct thread *thread, __u32 tid, __u64 task, __u64 ns)
{
	thread->last_taker.tid = tid;
	taker_set_name(&thread->last_taker, task);
	if (ns > thread->longest_wait.ns) {
		thread->longest_wait.ns = ns;
		thread->longest_wait.taker = thread->last_taker;
	}
}

/* Accounts a wait of `ns` that has ended now to those who had the CPU meanwhile, last first. */
__noinline int history_account(struct thread *thread, __u32 cpu, __u64 ns)
{
	struct cpu_history *history = bpf_map_lookup_elem(&histories, &cpu);
	struct offcpud_kept_off_times *times;
	__u64 left_ns = ns, until_ns, begun_ns, within;
	struct vote *vote;
	__u32 at;

	if (!thread || !history)
		return 0;
	history->waits++;
	if (ns > history->needed_ns)
		history->needed_ns = ns;
	at = history->head;
	until_ns = history_run(history, at)->until_ns;
	begun_ns = history->begun_ns;
#pragma clang loop unroll(disable)
	for (int i = 0; i < HISTORY_RUNS - 1; i++) {
		within = until_ns - begun_ns;
		if (within > left_ns)
			within = left_ns;
		run_account(thread, history, cpu, at, within);
		left_ns -= within;
		if (!left_ns)
			break;
		until_ns = begun_ns;
		at--;
		begun_ns = history_run(history, at - 1)->until_ns;
	}
	times = kept_off_shard(thread->owner.subject, cpu);
	if (left_ns && times) /* the ring does not reach back so far */
		subject_add(&times->sums_ns[OFFCPUD_KEPT_OFF_UNKNOWN], left_ns);
	vote = &history->votes[history->most & (VOTES - 1)];
	if (vote->wait == history->waits &&
	    (ns >= OFFCPUD_NAMED_WAIT_NS || ns > thread->longest_wait.ns))
		thread_set_taker(thread, vote->tid, vote->task, ns);
	return 0;
}

/* Accounts a wait for the CPU that ends now. Mostly `prev` has had the CPU all the time; `taker`
 * says as whom it counts. */
static __always_inline void kept_off_account(struct cpu_history *history,
					     struct offcpud_subject *subject, struct thread *thread,
					     struct task_struct *prev, __u64 taker, __u32 cpu,
					     __u64 ns, __u64 now)
{
	struct offcpud_kept_off_times *times;

	if (thread->kind == OFFCPUD_RUNQ_THROTTLED)
		return; /* nobody keeps it off but its own limit */
	if (unlikely(now - history->switched_ns < ns)) {
		history_account(thread, cpu, ns);
		return;
	}
	times = kept_off_shard(thread->owner.subject, cpu);
	if (!subject || !times)
		return; /* cannot happen; for the verifier */
	kept_off_add(times, subject->cgroup_id, thread, taker, ns);
	if (unlikely(ns >= OFFCPUD_NAMED_WAIT_NS || ns > thread->longest_wait.ns) && prev->pid)
		thread_set_taker(thread, prev->pid, (__u64)prev, ns);
}

#endif
