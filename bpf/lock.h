/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* The lock that a blocked thread waits for, as the walk over blocked threads tells it, and the
 * threads that hold locks. Fixed-width types without implicit padding. */
#ifndef OFFCPUD_LOCK_H
#define OFFCPUD_LOCK_H

#include "peer.h"

enum offcpud_lock_kind {
	OFFCPUD_LOCK_NONE,
	OFFCPUD_LOCK_FUTEX, /* the program's memory tells who holds it: daemon/holders */
	/* The kernel itself knows who holds these. */
	OFFCPUD_LOCK_PI,    /* a futex with priority inheritance */
	OFFCPUD_LOCK_MUTEX, /* of the kernel; under PREEMPT_RT any lock of it */
	OFFCPUD_LOCK_RWSEM, /* of the kernel, held by a writer */
	OFFCPUD_LOCK_FILE,  /* flock(2), fcntl(2) */
	OFFCPUD_LOCK_KINDS,
};

struct offcpud_lock {
	__u64 address;	   /* of the futex, in the thread's process */
	__u64 robust_list; /* the thread's struct robust_list_head; 0: none */
	__u32 op, value;   /* arguments of futex(2) */
	__u32 owner_tid;   /* in the initial PID namespace; 0: the kernel does not know */
	__u32 kind;	   /* enum offcpud_lock_kind */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_lock) == 32, "the layout has no padding");

/*
 * The daemon asks for threads by number. A lock in a program's memory names its holder by the
 * thread number in the holder's own PID namespace; the holder belongs to the waiter's process.
 */
#define OFFCPUD_OWNERS 16384 /* asked for at once */

#define OFFCPUD_OWNER_BY_TID (1ULL << 63) /* the low 32 bits: number in the initial namespace */

static inline __attribute__((always_inline)) __u64 offcpud_owner_key(__u32 tgid, __u32 inner_tid)
{
	return (__u64)tgid << 32 | inner_tid;
}

struct offcpud_owner {
	__u64 key;		     /* one that the daemon asked for */
	__u32 tid;		     /* in the initial PID namespace */
	__u32 local_tid;	     /* in the daemon's; 0: not there */
	struct offcpud_peer process; /* of the thread */
	char comm[OFFCPUD_COMM];     /* of the thread */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_owner) == 152, "the layout has no padding");

#endif
