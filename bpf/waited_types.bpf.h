/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel fields that tell what a thread waits on, and the state of a look at them. */
#ifndef OFFCPUD_WAITED_TYPES_BPF_H
#define OFFCPUD_WAITED_TYPES_BPF_H

#include "checked.bpf.h"
#include "kernel.bpf.h"

struct tcp_sock___waited {
	__u64 bytes_received;	   /* since the connection was made */
	__u32 rcv_nxt, copied_seq; /* the next byte of the peer; the next that nobody has read */
	__u32 snd_una, write_seq;  /* the first byte that is not acknowledged; the next to send */
	__u32 snd_wl1;		   /* sequence of the segment that changed the window last */
	__u32 lsndtime;		   /* jiffies, when data were sent last */
} __attribute__((preserve_access_index));

struct inet_connection_sock___waited {
	struct {
		__u32 lrcvtime; /* jiffies, when data came last */
		__u8 pingpong;	/* how often data were sent soon after data came */
	} icsk_ack;
} __attribute__((preserve_access_index));

struct sk_buff_head___waited {
	__u32 qlen;
} __attribute__((preserve_access_index));

struct pipe_inode_info___waited {
	unsigned int head, tail; /* of what was written and not read yet */
	unsigned int writers;
} __attribute__((preserve_access_index));

struct sock___waited {
	struct sk_buff_head___waited sk_receive_queue;
	__u32 sk_ack_backlog;
	__u32 sk_max_ack_backlog;
	void *sk_peer_pid;
	__u8 sk_shutdown;
	__u8 sk_userlocks;
} __attribute__((preserve_access_index));

struct unix_sock___waited {
	void *addr;
	struct unix_sock___waited *peer;
} __attribute__((preserve_access_index));

struct file___waited {
	struct inode *f_inode;
	unsigned int f_mode;
	void *private_data;
} __attribute__((preserve_access_index));

struct qstr___waited {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry___waited {
	struct qstr___waited d_name;
} __attribute__((preserve_access_index));

struct list_head___waited {
	struct list_head___waited *next, *prev;
} __attribute__((preserve_access_index));

struct rb_root___waited {
	void *rb_node;
} __attribute__((preserve_access_index));

struct rb_root_cached___waited {
	struct rb_root___waited rb_root;
} __attribute__((preserve_access_index));

struct eventpoll___waited {
	struct list_head___waited rdllist;  /* files that became ready */
	struct rb_root_cached___waited rbr; /* all files */
} __attribute__((preserve_access_index));

struct rb_node___waited {
	unsigned long __rb_parent_color;
} __attribute__((preserve_access_index));

struct epoll_filefd___waited {
	struct file *file;
} __attribute__((preserve_access_index));

struct epitem___waited {
	struct rb_node___waited rbn;
	struct list_head___waited rdllink;
	struct epoll_filefd___waited ffd;
} __attribute__((preserve_access_index));

struct wait_queue_entry___waited {
	void *private; /* who waits */
	void *func;    /* wakes it */
	struct list_head___waited entry;
} __attribute__((preserve_access_index));

struct poll_table_entry___waited {
	struct file *filp;
	unsigned int key; /* POLL*: what is asked for */
	struct wait_queue_entry___waited wait;
} __attribute__((preserve_access_index));

struct poll_wqueues___waited {
	void *table; /* further entries, if there are more than inline ones */
	struct task_struct *polling_task;
	int inline_index; /* entries in use */
	struct poll_table_entry___waited inline_entries[1];
} __attribute__((preserve_access_index));

struct thread_struct___waited {
	unsigned long sp;
} __attribute__((preserve_access_index));

struct task_struct___waited {
	struct thread_struct___waited thread;
	struct list_head___waited children; /* of this thread */
	struct list_head___waited sibling;  /* in its parent's list */
} __attribute__((preserve_access_index));

#define AF_UNIX	   1
#define AF_NETLINK 16
#define AF_PACKET  17

#define SOCK_STREAM    1
#define SOCK_SEQPACKET 5

#define IPPROTO_TCP 6

/* include/net/tcp_states.h; sockets of other protocols use the same numbers */
#define TCP_SYN_SENT 2
#define TCP_LISTEN   10

#define SOCK_BINDPORT_LOCK 8 /* include/net/sock.h, sk_userlocks: bind() named the port */

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_EPOLL_WAIT	232
#define NR_EPOLL_PWAIT	281
#define NR_EPOLL_PWAIT2 441

/* A wait is for the answer to a question that was sent at most this long before the wait began. */
#define ASKED_BEFORE_NS 1000000000ULL
#define AT_ONCE_NS	10000000ULL  /* between the peer's last data and ours */
#define A_WHILE_NS	250000000ULL /* since then */

/* Nodes of an epoll set that are looked at: each is passed up to three times. */
#define EPOLL_STEPS 192

/* What is searched for on a kernel stack is among this many words at its top: the table of poll()
 * and select(), the wait for a request of FUSE, for a page or for a block. A power of two. */
#define WAITED_WORDS 256

/* What this search costs, in steps as WALK_STEPS counts them. */
#define POLL_SEARCH_STEPS 8

/* arch/x86/include/asm/page_64_types.h: THREAD_SIZE, on which stacks are aligned. KASAN's are of
 * twice the size. */
#define STACK_BYTES 16384ULL

/* The other end of a pipe is searched in the parent of its reader, in up to PIPE_PROCESSES children
 * and as many siblings, and in the first PIPE_DESCRIPTORS descriptors of each. */
#define PIPE_PROCESSES	 32
#define PIPE_DESCRIPTORS 16

/* The most steps that all looks of one walk take together; the last look may exceed it. Each step
 * takes 0.1 to 0.4 us, so a walk is over within 50 ms: nobody drains the samples meanwhile. */
#define WALK_STEPS (1U << 17)

#define FMODE_WRITE 2 /* include/linux/fs.h */

/* Where a look at what a thread waits on takes place. */
enum waited_place {
	WAITED_IN_INTERRUPT, /* also at a waking: both have interrupts off */
	WAITED_IN_WALK,	     /* which an interrupt may interrupt */
	WAITED_PLACES,
};

/* How likely a file is the one that the thread waits on; the last is the most likely. */
enum waited_rank {
	WAITED_RANK_NONE,
	WAITED_RANK_ONE,   /* there is such a file; if there are others, nobody knows which */
	WAITED_RANK_ASKED, /* the thread spoke last on it: it waits for the answer */
	WAITED_RANK_READY, /* it ended the wait */
};

/* The state of one look. In a map for the same reason as unwind_walk. */
struct waited {
	__u64 since_ns;	 /* of the wait */
	__u64 now;	 /* CLOCK_MONOTONIC */
	__u64 task;	 /* an address, only to compare */
	__u64 node;	 /* of the epoll set, to be looked at next */
	__u64 from;	 /* the one before */
	__u64 entries;	 /* of poll's table */
	__u64 first;	 /* the first file */
	__u32 ended;	 /* the wait has ended, so the answer may be there */
	__u32 on;	 /* OFFCPUD_ON_* */
	__u32 files;	 /* others than `first` */
	__u32 left;	 /* of entries */
	__u64 pipe;	 /* an inode */
	__u32 tgid;	 /* of the reader of that pipe */
	__u32 holder;	 /* a process that can write to it */
	__u64 object;	 /* the one file that the thread waits on, as far as it is known; 0: none */
	__u32 object_on; /* what it is, OFFCPUD_ON_* */
	__u32 rank;	 /* enum waited_rank of `object` */
	__u32 looked;	 /* 0: this thread was not looked at */
	__u32 for_input; /* poll or select ask for input from the file that is looked at */
	__u32 for_room;	 /* poll or select ask for room in one of the files so far */
	__u64 holder_process;	   /* the address of its task, only for reads that may fail */
	__u64 steps;		   /* that the look took, of WALK_STEPS */
	__u64 words[WAITED_WORDS]; /* of the stack, at `from` */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WAITED_PLACES);
	__type(key, __u32);
	__type(value, struct waited);
} waiteds SEC(".maps");

/* The walk that looks, and the steps of its looks so far. The daemon runs one walk at a time. */
__u64 walk_session = 0;
__u64 walk_steps = 0;

const volatile __u64 jiffy_ns = 4000000; /* the daemon sets it */

#endif
