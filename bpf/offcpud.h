/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* The contract between the kernel programs and the daemon: layout and meaning of what they share.
 * Both include it; it holds no code. Fixed-width types without pointers or implicit padding. */
#ifndef OFFCPUD_H
#define OFFCPUD_H

#include <linux/types.h>

#include "latency_slot.h"
#include "static_assert.h"

/* What a histogram counts: a reason for blocking or a cause of waiting for a CPU. The order is part
 * of the layout. */
enum offcpud_hist_kind {
	OFFCPUD_BLOCKED_DISK,
	OFFCPUD_BLOCKED_LOCK,
	OFFCPUD_BLOCKED_CONDVAR,
	OFFCPUD_BLOCKED_NETWORK,
	OFFCPUD_BLOCKED_PIPE,
	OFFCPUD_BLOCKED_POLL,
	OFFCPUD_BLOCKED_SLEEP,
	OFFCPUD_BLOCKED_CHILD,
	OFFCPUD_BLOCKED_KERNEL,
	OFFCPUD_BLOCKED_STOPPED,
	OFFCPUD_BLOCKED_OTHER,
	OFFCPUD_RUNQ_WAKEUP,
	OFFCPUD_RUNQ_PREEMPTED,
	OFFCPUD_RUNQ_THROTTLED,
	OFFCPUD_HIST_KINDS,
	OFFCPUD_BLOCKED_KINDS = OFFCPUD_RUNQ_WAKEUP,
};

/* The number of episodes is the sum of the slots, so it always agrees with its buckets. */
struct offcpud_hist {
	__u64 sum_ns;
	__u64 slots[OFFCPUD_SLOTS];
};

/* Who took the CPU of a thread that could have run on: value of the label `by`. */
enum offcpud_taker {
	OFFCPUD_BY_SAME_CGROUP,
	OFFCPUD_BY_OTHER_CGROUP,
	OFFCPUD_BY_KERNEL, /* a kernel thread */
	OFFCPUD_TAKERS,
};

/* Who ended a block: value of the label `from`. */
enum offcpud_waker {
	OFFCPUD_FROM_SAME_CGROUP,
	OFFCPUD_FROM_OTHER_CGROUP,
	OFFCPUD_FROM_KERNEL,	/* a kernel thread */
	OFFCPUD_FROM_INTERRUPT, /* an interrupt or softirq, whatever thread it interrupted */
	OFFCPUD_WAKERS,
};

/*
 * One shard of everything that is counted about the threads of one cgroup. Value of the array
 * `subjects`. The shards of subject i are the elements i * shards .. i * shards + shards - 1, and a
 * reading is their sum. Counters only grow while the subject belongs to one cgroup.
 */
struct offcpud_subject {
	__u64 running_ns;
	__u64 cgroup_id; /* whose it is; 0: nobody's, or subject 0 */
	__u64 preemptions[OFFCPUD_TAKERS];
	__u64 wakeups[OFFCPUD_WAKERS];
	__u64 unaccounted_ns; /* lifetime of threads that ended, in no other number here */
	__u64 reserved[6];    /* keeps the histograms off the lines that every switch writes */
	struct offcpud_hist hists[OFFCPUD_HIST_KINDS];
};
OFFCPUD_ASSERT(sizeof(struct offcpud_subject) == 128 + OFFCPUD_HIST_KINDS * 8 * (OFFCPUD_SLOTS + 1),
	       "the layout has no padding");

/*
 * A process. Value of the array `processes`; element 0 is nobody's. Only the kernel programs take
 * an element, when they first see the process, and give it back when its last thread ends.
 */
struct offcpud_process {
	__u64 start_ns; /* CLOCK_BOOTTIME at which its leader started: with tgid, the identity */
	__u32 tgid;	/* 0: nobody's */
	__u32 threads;	/* that the programs know; not for the daemon */
	__u32 hists[OFFCPUD_HIST_KINDS]; /* element of `process_hists`; 0: no episode so far */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_process) == 72, "the layout has no padding");

#define OFFCPUD_NO_HIST 0xffffffff /* in hists: there was no room for it */

#define OFFCPUD_MAX_SHARDS 64

/* Subject 0 takes what no other subject has room for. */
#define OFFCPUD_SUBJECT_OTHER 0

/* Why something could not be recorded as it should; index of the array `losses`. */
enum offcpud_loss {
	OFFCPUD_LOSS_THREAD_STATE, /* a thread has no state in task storage: the event is dropped */
	OFFCPUD_LOSS_SUBJECTS_FULL, /* no free subject: the event is accounted to subject 0 */
	OFFCPUD_LOSS_CLOCK,	    /* a duration came out negative: the episode is dropped */
	OFFCPUD_LOSS_WAKEUP, /* ran again without a wakeup: the whole episode counts as blocked */
	OFFCPUD_LOSS_SWITCH, /* a switch was not seen: the state's duration is dropped */
	OFFCPUD_LOSS_CGROUP_EVENT, /* the ring of cgroup events was full: a walk finds the names */
	OFFCPUD_LOSS_PROCESSES_FULL, /* no room for a process or a histogram of it */
	OFFCPUD_LOSS_STALL_END,	    /* the ring of stalls was full: how this one ended is unknown */
	OFFCPUD_LOSS_SAMPLE,	    /* no room for the stacks of a block */
	OFFCPUD_LOSS_SUBJECTS_BUSY, /* other CPUs kept taking subjects: accounted to subject 0 */
	OFFCPUD_LOSS_FREE_LIST,	    /* a list of free processes or histograms could not be used */
	OFFCPUD_LOSS_WAKER_STACK,   /* another walk was under way on the waker's CPU */
	OFFCPUD_LOSS_RESTARTED, /* the call that was restarted is unknown: its reason is other */
	OFFCPUD_LOSS_DISK_LOADS_FULL, /* no room in `disk_loads`: the request is not counted */
	OFFCPUD_LOSSES,
};

/* Counts that are not losses; index of the array `counts`. */
enum offcpud_count {
	OFFCPUD_COUNT_LEFT_CENSORED, /* threads whose first wait was not seen to begin */
	OFFCPUD_COUNTS,
};

/* How a thread that blocks in a system call is classified; value of `syscall_class`. DISK to CHILD
 * are the kind of histogram plus one. */
enum offcpud_syscall_class {
	OFFCPUD_CLASS_OTHER,
	OFFCPUD_CLASS_DISK = OFFCPUD_BLOCKED_DISK + 1,
	OFFCPUD_CLASS_LOCK = OFFCPUD_BLOCKED_LOCK + 1,
	OFFCPUD_CLASS_CONDVAR = OFFCPUD_BLOCKED_CONDVAR + 1,
	OFFCPUD_CLASS_NETWORK = OFFCPUD_BLOCKED_NETWORK + 1,
	OFFCPUD_CLASS_PIPE = OFFCPUD_BLOCKED_PIPE + 1,
	OFFCPUD_CLASS_POLL = OFFCPUD_BLOCKED_POLL + 1,
	OFFCPUD_CLASS_SLEEP = OFFCPUD_BLOCKED_SLEEP + 1,
	OFFCPUD_CLASS_CHILD = OFFCPUD_BLOCKED_CHILD + 1,
	OFFCPUD_CLASS_FUTEX,   /* argument 1 is the futex operation */
	OFFCPUD_CLASS_FILE,    /* argument 0 is the descriptor read or written */
	OFFCPUD_CLASS_RESTART, /* restart_syscall: the class of the call that it restarts */
};
#define OFFCPUD_SYSCALLS 1024 /* numbers from here on have OFFCPUD_CLASS_OTHER; a power of two */

#define OFFCPUD_COMM 16 /* TASK_COMM_LEN, NUL-terminated */

/* What a thread does: offcpud_thread.state. */
enum offcpud_thread_state {
	OFFCPUD_THREAD_RUNNING,
	OFFCPUD_THREAD_RUNNABLE,
	OFFCPUD_THREAD_BLOCKED,
	OFFCPUD_THREAD_ENDED, /* a zombie: nobody waits */
};

/* For a wait shorter than this, the thread that had the CPU is noted only if the wait is the
 * longest so far. */
#define OFFCPUD_NAMED_WAIT_NS 100000

#define OFFCPUD_THREAD_KERNEL 1U /* a kernel thread, or a kernel worker of a user process */
#define OFFCPUD_THREAD_IDLE   2U /* a kernel thread that waits for work, as it does by design */
#define OFFCPUD_THREAD_PINNED 4U /* may run on one CPU only */
/* `state` began before the programs were attached. ESTIMATED: since_ns is from the scheduler's
 * record. UNKNOWN: the scheduler has none, and since_ns is 0. */
#define OFFCPUD_THREAD_ESTIMATED 8U
#define OFFCPUD_THREAD_UNKNOWN	 16U

/* The programs whose time is measured: value of the label `program`. */
enum offcpud_program {
	OFFCPUD_PROGRAM_SWITCH,
	OFFCPUD_PROGRAM_WAKING,
	OFFCPUD_PROGRAM_WAKEUP_NEW,
	OFFCPUD_PROGRAM_FORK,
	OFFCPUD_PROGRAM_STACKS,
	OFFCPUD_PROGRAM_GETRQ,
	OFFCPUD_PROGRAM_RQ_COMPLETE,
	OFFCPUD_PROGRAMS,
};

/* What a program's executions took on one CPU, estimated from those that timed themselves. */
struct offcpud_cost {
	__u64 runs;
	__u64 ns;
};

/* One thread, as the walk over all threads found it. Times are CLOCK_MONOTONIC and pids those of
 * the initial namespace, unless said otherwise. */
struct offcpud_thread {
	__u64 now_ns;	/* when this was read */
	__u64 since_ns; /* when `state` began */
	__u64 awake_ns; /* end of its last block, or its start; 0: unknown, or it is blocked */
	__u64 start_ns; /* CLOCK_BOOTTIME at which the thread started */
	__u64 process_start_ns; /* the same of the leader of its process */
	__u64 cgroup_id;
	__u64 unaccounted_ns; /* time since its first state that no sum has; an __s64 */
	/* Sums of what has ended since the programs first saw the thread. */
	__u64 running_ns;
	__u64 waits_ns[OFFCPUD_HIST_KINDS];
	__u64 kept_off_ns[OFFCPUD_TAKERS]; /* run-queue waits by who had the CPU */
	__u64 longest_wait_ns;		   /* in a run queue */
	__u64 kernel_running_ns; /* the scheduler's own count, sum_exec_runtime, since it started */
	__u32 tid;
	__u32 tgid;
	__u32 local_tid; /* in the daemon's PID namespace, as in its /proc */
	__u32 local_tgid;
	__u32 process;		 /* element of `processes`; 0: none */
	__u32 cpu;		 /* where it runs or ran last */
	__u32 state;		 /* enum offcpud_thread_state */
	__u32 kind;		 /* enum offcpud_hist_kind of the wait, when RUNNABLE or BLOCKED */
	__u32 flags;		 /* OFFCPUD_THREAD_... */
	__u32 taker_tid;	 /* who had the CPU in the last wait that was noted; 0: none */
	__u32 longest_taker_tid; /* and in the longest */
	__u32 unused;
	char comm[OFFCPUD_COMM];
	char taker_comm[OFFCPUD_COMM];
	char longest_taker_comm[OFFCPUD_COMM];
};

/* The end of a block that had become a stall; record of the ring `stall_ends`. */
struct offcpud_stall_end {
	__u64 since_ns;
	__u64 ended_ns; /* the wakeup */
	__u64 cgroup_id;
	__u32 tid;
	__u32 tgid;
	__u32 kind;
	__u32 waker; /* enum offcpud_waker; OFFCPUD_WAKERS: not known */
	__u32 waker_tid;
	__u32 estimated; /* 1: it began before the programs were attached */
	char comm[OFFCPUD_COMM];
};

/* A cgroup of the v2 hierarchy came or went; record of the ring `cgroup_events`. */
enum offcpud_cgroup_change {
	OFFCPUD_CGROUP_CREATED, /* mkdir */
	OFFCPUD_CGROUP_REMOVED, /* rmdir: only threads that are ending may still be in it */
};
#define OFFCPUD_CGROUP_NAME 256 /* NAME_MAX + 1 */
struct offcpud_cgroup_event {
	__u64 cgroup_id; /* kernfs id, 64 bits: inode number of the cgroup directory */
	__u64 parent_id; /* 0 for a root */
	__u32 change;	 /* enum offcpud_cgroup_change */
	char name[OFFCPUD_CGROUP_NAME]; /* last path component, NUL-terminated; CREATED only */
	__u32 reserved;
};

#endif
