/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whom or what a sampled block waited on, and who ended it. Only chosen blocks and those that a
 * walk finds pay for it.
 *
 * On loopback and between network namespaces of one host the receiver is woken in the softirq of
 * the sender, at the end of its system call: `current` is the sender. But any other softirq may
 * interrupt a thread just as well: of a network card, of a timer, or of another CPU (RPS). So the
 * current thread counts as the peer only if its system call is for the other end of the socket that
 * the block waited on.
 */
#ifndef OFFCPUD_PEER_BPF_H
#define OFFCPUD_PEER_BPF_H

#include <bpf/bpf_endian.h>

#include "blame.bpf.h"
#include "fuse.bpf.h"
#include "past.bpf.h"
#include "reason.bpf.h"
#include "sample_maps.bpf.h"
#include "signals.bpf.h"
#include "tid.bpf.h"
#include "waited_file.bpf.h"
#include "waited_page.bpf.h"

struct ns_common___peer {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct net___peer {
	struct ns_common___peer ns;
} __attribute__((preserve_access_index));

struct possible_net___peer {
	struct net___peer *net;
} __attribute__((preserve_access_index));

struct sock_common___peer {
	struct possible_net___peer skc_net;
} __attribute__((preserve_access_index));

struct socket_alloc___peer {
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

struct sock___peer {
	void *sk_socket;
} __attribute__((preserve_access_index));

struct block_device___peer {
	__u32 bd_dev;
} __attribute__((preserve_access_index));

struct super_block___peer {
	struct block_device___peer *s_bdev;
} __attribute__((preserve_access_index));

#define V4_MAPPED     bpf_htonl(0xffff) /* the third word of ::ffff:a.b.c.d */
#define LOOPBACK_MASK bpf_htonl(0xff000000)
#define LOOPBACK_NET  bpf_htonl(0x7f000000)

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_SYNC		     162
#define NR_MSYNC	     26
#define NR_SPLICE	     275
#define NR_SHUTDOWN	     48
#define NR_KILL		     62
#define NR_TKILL	     200
#define NR_TGKILL	     234
#define NR_RT_SIGQUEUEINFO   129
#define NR_RT_TGSIGQUEUEINFO 297
#define NR_PIDFD_SEND_SIGNAL 424

static __always_inline __u64 inode_of_socket(void *socket)
{
	__u64 inode = 0;

	/* A struct socket is the beginning of its struct socket_alloc (include/net/sock.h). */
	if (socket && bpf_core_type_exists(struct socket_alloc___peer))
		bpf_probe_read_kernel(
			&inode, sizeof(inode),
			socket + bpf_core_field_offset(struct socket_alloc___peer, vfs_inode) +
				bpf_core_field_offset(struct inode, i_ino));
	return inode;
}

static __always_inline void peer_describe_unix(struct offcpud_socket *to, struct sock *sk)
{
	struct unix_sock___waited *own = (void *)sk;
	struct sock___peer *peer;

	if (!bpf_core_field_exists(own->peer))
		return;
	peer = (void *)BPF_CORE_READ(own, peer);
	if (peer)
		to->peer_inode = inode_of_socket(BPF_CORE_READ(peer, sk_socket));
}

static __always_inline void peer_describe_inet(struct offcpud_socket *to, struct sock *sk)
{
	to->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	to->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	to->protocol = BPF_CORE_READ(sk, sk_protocol);
	if (to->family == AF_INET) {
		to->local[2] = to->remote[2] = V4_MAPPED;
		to->local[3] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		to->remote[3] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		return;
	}
	BPF_CORE_READ_INTO(&to->local, sk, __sk_common.skc_v6_rcv_saddr);
	BPF_CORE_READ_INTO(&to->remote, sk, __sk_common.skc_v6_daddr);
}

/* Describes a socket. The ends are known only of unix, IPv4 and IPv6 sockets. */
SUBPROGRAM int peer_describe(struct offcpud_socket *to, void *socket, __u64 inode)
{
	struct sock_common___peer *common;
	struct sock *sk;

	sk = BPF_CORE_READ((struct socket *)socket, sk);
	if (!sk)
		return 0;
	to->inode = inode;
	to->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	to->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	common = (void *)sk;
	if (bpf_core_field_exists(common->skc_net) && bpf_core_type_exists(struct net___peer))
		to->netns = BPF_CORE_READ(common, skc_net.net, ns.inum);
	if (to->family == AF_UNIX)
		peer_describe_unix(to, sk);
	else if (to->family == AF_INET || to->family == AF_INET6)
		peer_describe_inet(to, sk);
	return 0;
}

/* The number of the device on which a file is; 0: none is known. */
static __always_inline __u32 device_of(struct inode *inode)
{
	struct block_device___peer *device;
	struct super_block *super;

	if (inode_type(inode) == S_IFBLK)
		return BPF_CORE_READ(inode, i_rdev);
	if (inode_type(inode) == S_IFSOCK || inode_type(inode) == S_IFIFO ||
	    is_in_memory(inode_magic(inode)) || inode_magic(inode) == ANON_INODE_FS_MAGIC)
		return 0;
	super = BPF_CORE_READ(inode, i_sb);
	device = BPF_CORE_READ((struct super_block___peer *)super, s_bdev);
	return device ? BPF_CORE_READ(device, bd_dev) : BPF_CORE_READ(super, s_dev);
}

/* Notes the device that has the page or block for which a thread waits. */
static __always_inline void peer_set_device(struct offcpud_peer *peer,
					    const struct page_search *search)
{
	struct inode *inode = (void *)search->inode;
	struct super_block___fuse *super;
	__u64 mount;

	if (!inode) {
		peer->device = search->device;
		return;
	}
	if (CAN_CAST)
		inode = CAST(inode, struct inode);
	if (inode_magic(inode) != FUSE_SUPER_MAGIC || !fuse_known) {
		peer->device = device_of(inode);
		return;
	}
	super = (void *)BPF_CORE_READ(inode, i_sb);
	mount = (__u64)BPF_CORE_READ(super, s_fs_info);
	peer->device = fuse_device_of(word_at(mount + fuse_mount_link_at));
	peer->flags |= OFFCPUD_PEER_FUSE;
}

/* The file that a thread's system call is for: that of the first argument or, for splice, the one
 * that it writes to. NULL: the call is for no file. */
static __always_inline struct file *file_of_call(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long number = regs->orig_ax, descriptor = regs->di;
	struct files_struct *files = task->files;
	struct fdtable *table;
	__u32 class;

	if (number >= OFFCPUD_SYSCALLS || !files || task->thread_info.status & TS_COMPAT)
		return NULL;
	class = syscall_class[number];
	if (number == NR_SPLICE)
		descriptor = regs->dx;
	else if (number == NR_SYNC || number == NR_MSYNC ||
		 (class != OFFCPUD_CLASS_FILE && class != OFFCPUD_CLASS_NETWORK &&
		  class != OFFCPUD_CLASS_DISK && number != NR_SHUTDOWN))
		return NULL;
	table = files->fdt;
	if ((__u32)descriptor >= table->max_fds)
		return NULL;
	return file_in(table->fd + (__u32)descriptor);
}

static __always_inline bool is_signalling(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	switch (regs->orig_ax) {
	case NR_KILL:
	case NR_TKILL:
	case NR_TGKILL:
	case NR_RT_SIGQUEUEINFO:
	case NR_RT_TGSIGQUEUEINFO:
	case NR_PIDFD_SEND_SIGNAL:
		return true;
	default:
		return false;
	}
}

/* Whether the current thread ends the chosen block of `task` by a signal. A child that ends sends
 * one to its parent, which may wait just for that. */
static __always_inline bool is_by_signal(const struct chosen *chosen, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	bool is_childs = chosen->sample.kind == OFFCPUD_BLOCKED_CHILD &&
			 current->real_parent->tgid == task->tgid;

	return is_signalling(current) ||
	       (!is_childs && is_signalled(task, chosen->sample.task_state));
}

static __always_inline void peer_set_process(struct offcpud_peer *peer, struct task_struct *task)
{
	peer->cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	peer->process_start_ns = task->group_leader->start_boottime;
	peer->tgid = task->tgid;
	peer->local_tgid = local_tid(task->group_leader);
	copy_comm(peer->comm, task->group_leader);
}

/* Notes which thread is current when `woken` is woken, and the file that its system call is for. */
SUBPROGRAM int peer_note_ender(struct chosen *chosen, struct task_struct *woken, __u32 waker_tid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct peer_ender *ender = &chosen->ender;
	struct file *file;
	struct inode *inode;

	__builtin_memset(&chosen->peer, 0, sizeof(chosen->peer));
	__builtin_memset(ender, 0, sizeof(*ender));
	__builtin_memset(&chosen->past, 0, sizeof(chosen->past));
	if (!read_files || !tell_wakers || !task->pid || is_kernel_thread(task))
		return 0;
	peer_set_process(&chosen->peer, task);
	chosen->peer.tid = task->pid;
	past_of_current(&chosen->past, task);
	if (waker_tid) {
		chosen->peer.flags |= OFFCPUD_PEER_ENDED;
		if (is_by_signal(chosen, woken))
			chosen->peer.flags |= OFFCPUD_PEER_SIGNALLED;
	}
	file = file_of_call(task);
	if (!file)
		return 0;
	ender->file = (__u64)file;
	inode = inode_of(file);
	ender->inode = (__u64)inode;
	if (inode_type(inode) == S_IFSOCK)
		peer_describe(&ender->socket,
			      BPF_CORE_READ((struct file___waited *)file, private_data), 0);
	ender->is_fuse = is_fuse_device(inode);
	return 0;
}

/* Notes the device of the page or disk block for which `task` waited, whose chosen block ends now.
 * Notes nothing if a thread ended the wait in its own context, in no interrupt: then that thread
 * had locked the page, and is the peer. */
SUBPROGRAM int peer_note_page(struct chosen *chosen, struct task_struct *task)
{
	struct page_search search;

	if (chosen->peer.flags & OFFCPUD_PEER_ENDED ||
	    !may_wait_for_page(task, chosen->sample.kind))
		return 0;
	page_find(&search, task, WAITED_IN_INTERRUPT);
	peer_set_device(&chosen->peer, &search);
	return 0;
}

static __always_inline bool same_address(const __u32 *one, const __u32 *other)
{
	return one[0] == other[0] && one[1] == other[1] && one[2] == other[2] && one[3] == other[3];
}

static __always_inline bool address_is_none(const __u32 *address)
{
	return !address[0] && !address[1] && !address[3] &&
	       (!address[2] || address[2] == V4_MAPPED);
}

static __always_inline bool address_is_loopback(const __u32 *address)
{
	if (address[0] || address[1])
		return false;
	if (address[2] == V4_MAPPED)
		return (address[3] & LOOPBACK_MASK) == LOOPBACK_NET;
	return !address[2] && address[3] == bpf_htonl(1);
}

/* Whether a socket's other end is certainly in the socket's own network namespace, because no other
 * host has that address. */
static __always_inline bool socket_is_local(const struct offcpud_socket *socket)
{
	return address_is_loopback(socket->remote) || same_address(socket->remote, socket->local);
}

/*
 * Whether the local end of `at` is the remote end of `from`. A socket that is bound to no address
 * has all addresses of its namespace, which are not known here. Its port alone proves nothing,
 * because `from` may ask another host at the same port; so `from` must be local. Each namespace has
 * a loopback of its own.
 */
static __always_inline bool socket_ends_meet(const struct offcpud_socket *at,
					     const struct offcpud_socket *from)
{
	bool same_netns = at->netns == from->netns;

	if (!at->local_port || at->local_port != from->remote_port)
		return false;
	if (address_is_none(at->local))
		return same_netns && socket_is_local(from);
	return same_address(at->local, from->remote) &&
	       (same_netns || !address_is_loopback(at->local));
}

/*
 * Whether `other` is the other end of the connection of `own`. It is enough if they match at one
 * end: a socket for datagrams often has no remote end, and an address that is translated on the way
 * matches at one end only. A listener is never the other end; the socket from accept() is.
 */
static __always_inline bool socket_is_other_end(const struct offcpud_socket *own,
						const struct offcpud_socket *other)
{
	if (own->protocol != other->protocol || other->state == TCP_LISTEN)
		return false;
	return socket_ends_meet(other, own) || socket_ends_meet(own, other);
}

static __always_inline bool socket_is_inet(const struct offcpud_socket *socket)
{
	return socket->family == AF_INET || socket->family == AF_INET6;
}

/* Whether the process that was current at the waking is at the other end of what the block waited
 * on. A process that closes a unix socket or a pipe, or ends, is in no call for a file. */
static __always_inline bool ender_is_peer(const struct chosen *chosen, __u32 on, __u64 inode)
{
	const struct offcpud_peer *peer = &chosen->peer;
	const struct peer_ender *ender = &chosen->ender;
	bool ended =
		(peer->flags & (OFFCPUD_PEER_ENDED | OFFCPUD_PEER_SIGNALLED)) == OFFCPUD_PEER_ENDED;

	if (!peer->tgid)
		return false;
	if (ender->is_fuse)
		return ended;
	if (socket_is_inet(&peer->socket))
		return socket_is_inet(&ender->socket) &&
		       socket_is_other_end(&peer->socket, &ender->socket);
	if (peer->socket.family == AF_UNIX)
		return ended && (!ender->file || ender->socket.family == AF_UNIX);
	if (on & (OFFCPUD_ON_PIPE | OFFCPUD_ON_EVENT))
		return ended && (!ender->file || ender->inode == inode);
	return false;
}

/* Describes what a thread waits on, once waited_on() has looked at it. Keeps a device that is known
 * already: a call for one file may wait for a page of another one, whose bytes it writes. */
SUBPROGRAM int peer_find(struct offcpud_peer *peer, struct task_struct *task, __u32 kind,
			 __u32 place)
{
	struct waited *waited = waited_at(place);
	struct file___waited *file;
	struct inode *inode;

	if (!waited || is_kernel_thread(task))
		return 0;
	if (kind == OFFCPUD_BLOCKED_DISK || kind == OFFCPUD_BLOCKED_KERNEL) {
		file = (void *)file_of_call(task);
		if (read_files && file && !peer->device)
			peer->device = device_of(inode_of((struct file *)file));
		return 0;
	}
	file = (void *)waited->object;
	if (!file || !waited->looked)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	peer->socket.on = waited->object_on;
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFSOCK)
		peer_describe(&peer->socket, BPF_CORE_READ(file, private_data),
			      BPF_CORE_READ(inode, i_ino));
	return 0;
}

/* Notes, in a walk, the device of the page or disk block for which a thread waits. */
static __always_inline void peer_find_page(struct offcpud_peer *peer, struct task_struct *task,
					   __u32 kind)
{
	struct page_search search;

	if (!may_wait_for_page(task, kind) || walk_steps >= WALK_STEPS)
		return;
	walk_steps += PAGE_STEPS;
	page_find(&search, task, WAITED_IN_WALK);
	peer_set_device(peer, &search);
}

/* Notes, in a walk, the FUSE file system for whose answer a thread waits. */
static __always_inline void peer_find_fuse(struct offcpud_peer *peer, struct task_struct *task,
					   __u32 kind)
{
	struct fuse_search search;

	if (!may_wait_for_fuse(kind) || walk_steps >= WALK_STEPS)
		return;
	walk_steps += FUSE_STEPS;
	fuse_find(&search, task);
	if (!search.device)
		return;
	peer->device = search.device;
	peer->flags |= OFFCPUD_PEER_FUSE;
}

/* Describes the peer in a walk: a process that can write to the pipe that the thread reads. */
static __always_inline void peer_set_holder(struct offcpud_peer *peer)
{
	struct waited *waited = waited_at(WAITED_IN_WALK);
	struct task_struct *process;

	if (!waited || !waited->looked || !waited->holder)
		return;
	process = (void *)waited->holder_process;
	peer->flags |= OFFCPUD_PEER_KNOWN;
	peer->tgid = waited->holder;
	peer->cgroup_id = BPF_CORE_READ(process, cgroups, dfl_cgrp, kn, id);
	peer->process_start_ns = BPF_CORE_READ(process, group_leader, start_boottime);
	BPF_CORE_READ_INTO(&peer->comm, process, group_leader, comm);
}

/* As peer_find(), for a chosen block that has ended. Notes whether its ender is the peer. */
SUBPROGRAM int peer_find_chosen(struct chosen *chosen, struct task_struct *task)
{
	struct waited *waited = waited_at(WAITED_IN_INTERRUPT);
	struct file___waited *file;
	__u64 inode = 0;

	if (!waited)
		return 0;
	peer_find(&chosen->peer, task, chosen->sample.kind, WAITED_IN_INTERRUPT);
	file = (void *)waited->object;
	if (waited->looked && file)
		inode = (__u64)BPF_CORE_READ(file, f_inode);
	if (ender_is_peer(chosen, chosen->peer.socket.on, inode))
		chosen->peer.flags |= OFFCPUD_PEER_KNOWN;
	return 0;
}

#endif
