/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* Whom or what a sampled block waited on, and who ended it, as one look at the kernel's own
 * structures tells. Fixed-width types without implicit padding. */
#ifndef OFFCPUD_PEER_H
#define OFFCPUD_PEER_H

#include "offcpud.h"

/* A socket that a block waited on. */
struct offcpud_socket {
	__u32 local[4];	   /* network byte order; IPv4 as ::ffff:a.b.c.d */
	__u32 remote[4];   /* the same; 0: none */
	__u64 inode;	   /* INODE of "socket:[INODE]" in /proc/PID/fd */
	__u64 peer_inode;  /* the same of the other end of a unix socket; 0: not known */
	__u32 netns;	   /* inode number of the network namespace; 0: not known */
	__u16 local_port;  /* host byte order */
	__u16 remote_port; /* the same; 0: none */
	__u16 family;	   /* AF_*; 0: there is no socket, or none is known */
	__u8 protocol;	   /* IPPROTO_* */
	__u8 state;	   /* include/net/tcp_states.h */
	__u32 on;	   /* OFFCPUD_ON_*: what it is to its process */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_socket) == 64, "the layout has no padding");

/* The process in offcpud_peer is the one that the block waited for: it holds the other end of the
 * socket or pipe. Without this bit, it is only the one that was current when the block ended. */
#define OFFCPUD_PEER_KNOWN 1
/* The process ended the block in its own context, in no interrupt and no softirq. */
#define OFFCPUD_PEER_ENDED 2
/* It did so by a signal, whatever the block waited for. */
#define OFFCPUD_PEER_SIGNALLED 4
/* `device` is that of a FUSE file system, which a process serves. */
#define OFFCPUD_PEER_FUSE 8

struct offcpud_peer {
	struct offcpud_socket socket;
	__u64 cgroup_id;
	__u64 process_start_ns; /* CLOCK_BOOTTIME */
	__u32 tgid;		/* 0: there is no process, or it is a kernel thread */
	__u32 local_tgid;	/* in the daemon's PID namespace; 0: not there */
	/* Of the page or disk block that was waited for, else of the file that was read or written;
	 * or of the FUSE file system that was asked. dev_t of the kernel; 0: not known. */
	__u32 device;
	__u32 flags;		 /* OFFCPUD_PEER_* */
	char comm[OFFCPUD_COMM]; /* of the process's first thread */
	__u32 tid; /* of the thread that was current when the block ended; 0: unknown */
	__u32 unused;
};
OFFCPUD_ASSERT(sizeof(struct offcpud_peer) == 120, "the layout has no padding");

/* Record of the walk over all sockets: a socket, or an open /dev/fuse (OFFCPUD_PEER_FUSE), and a
 * process that has it. */
struct offcpud_held_socket {
	struct offcpud_peer peer;
	__u32 uid; /* real uid of the process, in the initial user namespace */
	__u32 unused;
};
OFFCPUD_ASSERT(sizeof(struct offcpud_held_socket) == 128, "the layout has no padding");

#endif
