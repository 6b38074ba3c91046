/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/*
 * The contract between the kernel programs and the daemon: layout and meaning of what they share.
 * Included by both; holds no code. Fixed-width types, no pointers, no implicit padding.
 */
#ifndef OFFCPUD_H
#define OFFCPUD_H

#include <linux/types.h>

#include "latency_slot.h"

#ifdef __cplusplus
#define OFFCPUD_ASSERT static_assert
#else
#define OFFCPUD_ASSERT _Static_assert
#endif

/* What a histogram counts: a blocked reason or a run-queue cause. The order is part of the layout.
 */
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

/* The number of episodes is the sum of the slots, so a count can never disagree with its buckets.
 */
struct offcpud_hist {
	__u64 sum_ns;
	__u64 slots[OFFCPUD_SLOTS];
};

/*
 * Everything about the threads of one cgroup, as one shard of it. Value of the array `subjects`;
 * the shards of subject i are the elements i * shards .. i * shards + shards - 1, and a reading is
 * their sum. Counters only grow while the subject belongs to one cgroup.
 */
struct offcpud_subject {
	__u64 running_ns;
	__u64 cgroup_id;   /* whose it is; 0: nobody's, or subject 0 */
	__u64 reserved[6]; /* keeps the histograms off the line that every switch writes */
	struct offcpud_hist hists[OFFCPUD_HIST_KINDS];
};
OFFCPUD_ASSERT(sizeof(struct offcpud_subject) == 64 + OFFCPUD_HIST_KINDS * 8 * (OFFCPUD_SLOTS + 1),
	       "the layout has no padding");

#define OFFCPUD_MAX_SHARDS 64

/* Subject 0 takes what no other subject has room for. */
#define OFFCPUD_SUBJECT_OTHER 0

/* Why something could not be recorded as it should have been; index of the array `losses`. */
enum offcpud_loss {
	OFFCPUD_LOSS_THREAD_STATE, /* a thread has no state in task storage: the event is dropped */
	OFFCPUD_LOSS_SUBJECTS_FULL, /* no free subject: the event is charged to subject 0 */
	OFFCPUD_LOSS_CLOCK,	    /* a duration came out negative: the episode is dropped */
	OFFCPUD_LOSS_WAKEUP, /* ran again without a wakeup: the whole episode counts as blocked */
	OFFCPUD_LOSS_SWITCH, /* a switch was not seen: the state's duration is dropped */
	OFFCPUD_LOSS_CGROUP_EVENT, /* the ring of cgroup events was full: names come from a walk */
	OFFCPUD_LOSSES,
};

/* Counts that are not losses; index of the array `counts`. */
enum offcpud_count {
	OFFCPUD_COUNT_LEFT_CENSORED, /* first episode has no beginning: asleep or queued at attach
				      */
	OFFCPUD_COUNTS,
};

/* How a thread that blocks inside a system call is classified; value of `syscall_class`. */
enum offcpud_syscall_class {
	OFFCPUD_CLASS_OTHER,
	OFFCPUD_CLASS_DISK,
	OFFCPUD_CLASS_LOCK,
	OFFCPUD_CLASS_CONDVAR,
	OFFCPUD_CLASS_NETWORK,
	OFFCPUD_CLASS_PIPE,
	OFFCPUD_CLASS_POLL,
	OFFCPUD_CLASS_SLEEP,
	OFFCPUD_CLASS_CHILD,
	OFFCPUD_CLASS_FUTEX,   /* argument 1 is the futex operation */
	OFFCPUD_CLASS_FILE,    /* argument 0 is the descriptor read or written */
	OFFCPUD_CLASS_RESTART, /* restart_syscall: the class of the call that was interrupted */
};
#define OFFCPUD_SYSCALLS 1024 /* numbers from here on have OFFCPUD_CLASS_OTHER; a power of two */

/* A cgroup of the v2 hierarchy came or went; record of the ring `cgroup_events`. */
enum offcpud_cgroup_change {
	OFFCPUD_CGROUP_CREATED, /* mkdir */
	OFFCPUD_CGROUP_REMOVED, /* rmdir: no live thread is left; a dying one may still be charged
				 */
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
