/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files are that a thread waits on: a socket that it was asked at, one that it asked at, a
 * pipe, a timer. Only sampled blocks and those that a walk finds pay for it. All memory is read in
 * a way that may fail: files of other threads may go away meanwhile.
 */
#ifndef OFFCPUD_WAITED_BPF_H
#define OFFCPUD_WAITED_BPF_H

#include "reason.bpf.h"
#include "waited.h"

struct tcp_sock___waited {
	__u32 rcv_nxt, copied_seq; /* the next byte of the peer; the next that nobody has read */
	__u32 snd_una, write_seq;  /* the first byte that is not acknowledged; the next to send */
	__u32 snd_wl1;		   /* sequence of the segment that changed the window last */
	__u32 lsndtime;		   /* jiffies, when data were sent last */
} __attribute__((preserve_access_index));

struct inet_connection_sock___waited {
	struct {
		__u32 lrcvtime; /* jiffies, when data came last */
	} icsk_ack;
} __attribute__((preserve_access_index));

struct sock___waited {
	__u32 sk_max_ack_backlog;
	__u8 sk_userlocks;
} __attribute__((preserve_access_index));

struct unix_sock___waited {
	void *addr;
	struct unix_sock___waited *peer;
} __attribute__((preserve_access_index));

struct file___waited {
	void *private_data;
} __attribute__((preserve_access_index));

struct qstr___waited {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry___waited {
	struct qstr___waited d_name;
} __attribute__((preserve_access_index));

struct list_head___waited {
	struct list_head___waited *next;
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
	void *private;
} __attribute__((preserve_access_index));

struct poll_table_entry___waited {
	struct file *filp;
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

/* A question that was sent at most so long before its wait began is what the wait is for. */
#define ASKED_BEFORE_NS 1000000000ULL

/* Nodes of an epoll set that are looked at: each is passed up to three times. */
#define EPOLL_STEPS 192

/* Words of a kernel stack, from its top, among which the table of poll() and select() is. */
#define POLL_WORDS 256

/* arch/x86/include/asm/page_64_types.h: THREAD_SIZE, on which stacks are aligned. KASAN's are of
 * twice the size. */
#define STACK_BYTES 16384ULL

/* Where a thread is told what it waits on. */
enum waited_place {
	WAITED_IN_INTERRUPT,
	WAITED_IN_WALK, /* which an interrupt may interrupt */
	WAITED_PLACES,
};

/* The state of one look. In a map for the reason that unwind_walk is. */
struct waited {
	__u64 since_ns; /* of the wait */
	__u64 now;	/* CLOCK_MONOTONIC */
	__u64 task;	/* an address, only to compare */
	__u64 node;	/* of the epoll set, to be looked at next */
	__u64 from;	/* the one before */
	__u64 entries;	/* of poll's table */
	__u64 first;	/* the first file */
	__u32 ended;	/* the wait has ended, so the answer may be there */
	__u32 on;	/* OFFCPUD_ON_* */
	__u32 files;	/* others than `first` */
	__u32 left;	/* of entries */
	__u64 words[POLL_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WAITED_PLACES);
	__type(key, __u32);
	__type(value, struct waited);
} waiteds SEC(".maps");

const volatile __u64 jiffy_ns = 4000000;

/*
 * Whether this connection that was made from here was spoken on last from here: then the wait is
 * for the answer.
 *
 * Both times are in jiffies. Within one jiffy the sequence numbers tell: data that are not
 * acknowledged were sent last; and where the last window came with a segment at rcv_nxt, that was
 * an acknowledgement without data, which came after the peer's last data. It does not hold the
 * other way round for ever, because keepalives are such segments, too: so times come first.
 *
 * If the wait has ended by data that nobody has read yet, those came last, of course. It was for
 * them if the question was sent in the second before it began, or later.
 */
static __always_inline __u32 on_connected(struct waited *waited, void *sk)
{
	struct inet_connection_sock___waited *connection = sk;
	struct tcp_sock___waited *tcp = sk;
	__u32 sent, heard, rcv_nxt;
	__u64 ago;

	if (!bpf_core_field_exists(tcp->lsndtime) ||
	    !bpf_core_field_exists(connection->icsk_ack.lrcvtime) ||
	    !bpf_core_field_exists(tcp->snd_wl1))
		return OFFCPUD_ON_LINKED;
	sent = BPF_CORE_READ(tcp, lsndtime);
	heard = BPF_CORE_READ(connection, icsk_ack.lrcvtime);
	rcv_nxt = BPF_CORE_READ(tcp, rcv_nxt);
	if ((__s32)(sent - heard) > 0)
		return OFFCPUD_ON_ASKED;
	if (waited->ended && BPF_CORE_READ(tcp, copied_seq) != rcv_nxt) {
		ago = (__u32)((__u32)bpf_jiffies64() - sent);
		if (ago * jiffy_ns <= waited->now - waited->since_ns + ASKED_BEFORE_NS)
			return OFFCPUD_ON_ASKED;
		return OFFCPUD_ON_HEARD;
	}
	if (sent == heard && (BPF_CORE_READ(tcp, snd_una) != BPF_CORE_READ(tcp, write_seq) ||
			      BPF_CORE_READ(tcp, snd_wl1) == rcv_nxt))
		return OFFCPUD_ON_ASKED;
	return OFFCPUD_ON_HEARD;
}

/* A connection that was accepted has its listener's backlog, because the kernel copies that socket
 * (net/core/sock.c, sk_clone_lock). Others have none. */
static __always_inline __u32 on_tcp(struct waited *waited, void *sk, __u32 state)
{
	struct sock___waited *sock = sk;

	if (state == TCP_LISTEN)
		return OFFCPUD_ON_LISTENER;
	if (state == TCP_SYN_SENT)
		return OFFCPUD_ON_ASKED;
	if (!bpf_core_field_exists(sock->sk_max_ack_backlog))
		return OFFCPUD_ON_OTHER;
	if (BPF_CORE_READ(sock, sk_max_ack_backlog))
		return OFFCPUD_ON_ACCEPTED;
	return on_connected(waited, sk);
}

/* A connection that was accepted has the address of its listener; who connects has none, or one of
 * its own if it wants; a pair has none at either end (net/unix/af_unix.c). */
static __always_inline __u32 on_unix(void *sk, __u32 state, __u32 type)
{
	struct unix_sock___waited *own = sk, *peer;
	void *address;

	if (state == TCP_LISTEN)
		return OFFCPUD_ON_LISTENER;
	if (!bpf_core_field_exists(own->peer))
		return OFFCPUD_ON_OTHER;
	address = BPF_CORE_READ(own, addr);
	peer = BPF_CORE_READ(own, peer);
	if (!peer)
		return address && type != SOCK_STREAM && type != SOCK_SEQPACKET
			       ? OFFCPUD_ON_LISTENER
			       : OFFCPUD_ON_OTHER;
	if (BPF_CORE_READ(peer, addr))
		return address ? OFFCPUD_ON_OTHER : OFFCPUD_ON_LINKED;
	return address ? OFFCPUD_ON_ACCEPTED : OFFCPUD_ON_OTHER;
}

static __always_inline __u32 on_datagrams(struct sock *sk)
{
	struct sock___waited *sock = (void *)sk;

	if (!BPF_CORE_READ(sk, __sk_common.skc_dport) &&
	    bpf_core_field_exists(sock->sk_userlocks) &&
	    (BPF_CORE_READ_BITFIELD_PROBED(sock, sk_userlocks) & SOCK_BINDPORT_LOCK))
		return OFFCPUD_ON_LISTENER;
	return OFFCPUD_ON_LINKED;
}

static __always_inline __u32 on_socket(struct waited *waited, struct socket *socket)
{
	struct sock *sk = BPF_CORE_READ(socket, sk);
	__u32 family, state;

	if (!sk)
		return OFFCPUD_ON_OTHER;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	switch (family) {
	case AF_UNIX:
		return on_unix(sk, state, BPF_CORE_READ(sk, sk_type));
	case AF_INET:
	case AF_INET6:
		if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
			return on_datagrams(sk);
		if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
			return OFFCPUD_ON_OTHER;
		return on_tcp(waited, sk, state);
	case AF_NETLINK:
	case AF_PACKET:
		return OFFCPUD_ON_LISTENER;
	default:
		return OFFCPUD_ON_OTHER;
	}
}

/* Files of the kernel's anonymous inode are told apart by their names. */
static __always_inline __u32 on_anonymous(struct file *file)
{
	char name[8] = {}; /* "[eventf", "[eventp", "[timerf", "[signal" */
	const unsigned char *text;
	struct dentry___waited *dentry = BPF_CORE_READ(file, f_path.dentry);

	text = BPF_CORE_READ(dentry, d_name.name);
	if (bpf_probe_read_kernel(name, sizeof(name) - 1, text))
		return OFFCPUD_ON_OTHER;
	if (name[1] == 't')
		return OFFCPUD_ON_TIMER;
	return name[1] == 'e' && name[6] == 'f' ? OFFCPUD_ON_EVENT : OFFCPUD_ON_OTHER;
}

/* Adds a file to what the thread waits on. */
SUBPROGRAM int waited_add(struct waited *waited, struct file *file)
{
	struct file___waited *content = (void *)file;
	struct inode *inode;
	unsigned short type;

	if (!file)
		return 0;
	if (!waited->first)
		waited->first = (__u64)file;
	else if (waited->first != (__u64)file)
		waited->files++;
	inode = BPF_CORE_READ(file, f_inode);
	type = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	if (type == S_IFSOCK)
		waited->on |= on_socket(waited, BPF_CORE_READ(content, private_data));
	else if (type == S_IFIFO)
		waited->on |= OFFCPUD_ON_PIPE;
	else if (BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_FS_MAGIC)
		waited->on |= on_anonymous(file);
	else
		waited->on |= OFFCPUD_ON_OTHER;
	return 0;
}

static __always_inline struct waited *waited_at(__u32 place)
{
	return bpf_map_lookup_elem(&waiteds, &place);
}

static __always_inline __u64 item_of_node(__u64 node)
{
	return node - bpf_core_field_offset(struct epitem___waited, rbn);
}

/* One step through the tree of an epoll set. A node comes before its children; from where the walk
 * came says what is left of it. */
static int epoll_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	__u64 links[3] = {}, parent, right, left; /* struct rb_node */
	struct epitem___waited *item;

	if (!waited || !waited->node)
		return 1;
	if (bpf_probe_read_kernel(links, sizeof(links), (void *)waited->node)) {
		waited->on |= OFFCPUD_ON_MORE;
		waited->node = 0;
		return 1;
	}
	parent = links[0] & ~3ULL;
	right = links[1];
	left = links[2];
	if (waited->from == parent) {
		item = (void *)item_of_node(waited->node);
		waited_add(waited, BPF_CORE_READ(item, ffd.file));
		if (waited->on & OFFCPUD_ON_ASKED) {
			waited->node = 0;
			return 1;
		}
		waited->from = waited->node;
		waited->node = left ?: right ?: parent;
	} else if (waited->from == left && right) {
		waited->from = waited->node;
		waited->node = right;
	} else {
		waited->from = waited->node;
		waited->node = parent;
	}
	return 0;
}

/* Of a wait that ended, the file that became ready first: the thread has not collected it yet. Of
 * others, the whole set. */
static __always_inline void waited_on_epoll(struct waited *waited, struct file *file, __u32 place)
{
	struct file___waited *content = (void *)file;
	struct eventpoll___waited *epoll = BPF_CORE_READ(content, private_data);
	struct epitem___waited *item;
	__u64 list, next;

	if (!epoll || !bpf_core_field_exists(epoll->rdllist) || !bpf_core_field_exists(epoll->rbr))
		return;
	list = (__u64)epoll + bpf_core_field_offset(struct eventpoll___waited, rdllist);
	next = (__u64)BPF_CORE_READ(epoll, rdllist.next);
	if (waited->ended && next && next != list) {
		item = (void *)(next - bpf_core_field_offset(struct epitem___waited, rdllink));
		waited_add(waited, BPF_CORE_READ(item, ffd.file));
		waited->on |= OFFCPUD_ON_READY;
		return;
	}
	waited->node = (__u64)BPF_CORE_READ(epoll, rbr.rb_root.rb_node);
	waited->from = 0;
	bpf_loop(EPOLL_STEPS, epoll_step, &place, 0);
	if (waited->node)
		waited->on |= OFFCPUD_ON_MORE;
}

static int poll_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	struct poll_table_entry___waited *entry;

	if (!waited || !waited->left)
		return 1;
	entry = (void *)waited->entries;
	waited_add(waited, BPF_CORE_READ(entry, filp));
	waited->entries += bpf_core_type_size(struct poll_table_entry___waited);
	waited->left--;
	return 0;
}

#define POLL_OFFSET(field) bpf_core_field_offset(struct poll_wqueues___waited, field)

/* Whether the table of poll() is at this address, of which the word of polling_task has been found.
 * Its first entry says so. Then its entries are what to look at. */
static __always_inline bool poll_table_is(struct waited *waited, __u64 at)
{
	struct poll_wqueues___waited *table = (void *)at;
	struct poll_table_entry___waited *entry = (void *)(at + POLL_OFFSET(inline_entries));
	__u32 entries = BPF_CORE_READ(table, inline_index);

	if (!entries || entries > 64 || (__u64)BPF_CORE_READ(entry, wait.private) != at)
		return false;
	waited->entries = (__u64)entry;
	waited->left = entries;
	if (BPF_CORE_READ(table, table))
		waited->on |= OFFCPUD_ON_MORE;
	return true;
}

static int poll_search_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);

	if (!waited || index >= POLL_WORDS)
		return 1;
	if (waited->words[index & (POLL_WORDS - 1)] != waited->task)
		return 0;
	return poll_table_is(waited, waited->from + index * 8 - POLL_OFFSET(polling_task));
}

/*
 * poll() and select() keep a table of the files on the thread's kernel stack, which does not change
 * while the thread sleeps (fs/select.c, struct poll_wqueues). It is near the top, and has the
 * address of the thread in it.
 */
static __always_inline void waited_on_poll(struct waited *waited, struct task_struct *task,
					   __u32 place)
{
	struct task_struct___waited *stack = (void *)task;
	struct poll_wqueues___waited *table = NULL;
	__u64 top, bytes;

	if (!bpf_core_field_exists(table->inline_entries) ||
	    !bpf_core_field_exists(stack->thread.sp))
		return;
	top = BPF_CORE_READ(stack, thread.sp);
	bytes = (top | (STACK_BYTES - 1)) + 1 - top;
	if (bytes > sizeof(waited->words))
		bytes = sizeof(waited->words);
	if (bpf_probe_read_kernel(waited->words, bytes, (void *)top))
		return;
	waited->from = top;
	waited->left = 0;
	bpf_loop(bytes / sizeof(__u64), poll_search_step, &place, 0);
	bpf_loop(waited->left, poll_step, &place, 0);
}

/* Looks at a thread that is in a native system call. `ended`: it is the current one, and its wait
 * has just ended. Returns OFFCPUD_ON_*. */
SUBPROGRAM __u32 waited_look(struct task_struct *task, __u64 since_ns, __u32 place)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long number = regs->orig_ax, descriptor = regs->di;
	struct waited *waited = waited_at(place);
	struct files_struct *files = task->files;
	struct fdtable *table;
	__u32 class;
	bool epoll;

	if (!waited || !files || number >= OFFCPUD_SYSCALLS || task->thread_info.status & TS_COMPAT)
		return 0;
	waited->since_ns = since_ns;
	waited->now = bpf_ktime_get_ns();
	waited->task = (__u64)task;
	waited->ended = place == WAITED_IN_INTERRUPT;
	waited->on = waited->files = 0;
	waited->first = 0;
	class = syscall_class[number];
	epoll = number == NR_EPOLL_WAIT || number == NR_EPOLL_PWAIT || number == NR_EPOLL_PWAIT2;
	table = files->fdt;
	if (!epoll && (class == OFFCPUD_CLASS_POLL || class == OFFCPUD_CLASS_RESTART))
		waited_on_poll(waited, task, place);
	else if ((__u32)descriptor >= table->max_fds)
		return 0;
	else if (epoll)
		waited_on_epoll(waited, file_in(table->fd + (__u32)descriptor), place);
	else
		waited_add(waited, file_in(table->fd + (__u32)descriptor));
	if (waited->first && !waited->files && !(waited->on & (OFFCPUD_ON_READY | OFFCPUD_ON_MORE)))
		waited->on |= OFFCPUD_ON_ALONE;
	return waited->on;
}

static __always_inline __u32 waited_on(struct task_struct *task, __u32 kind, __u64 since_ns,
				       __u32 place)
{
	bool is_for_files = kind == OFFCPUD_BLOCKED_NETWORK || kind == OFFCPUD_BLOCKED_PIPE ||
			    kind == OFFCPUD_BLOCKED_POLL;

	if (!read_files || !is_for_files || is_kernel_thread(task))
		return 0;
	return waited_look(task, since_ns, place);
}

#endif
