/* SPDX-License-Identifier: GPL-2.0-only */
/* What a file is to the process that waits on it, and who can write to a pipe. */
#ifndef OFFCPUD_WAITED_FILE_BPF_H
#define OFFCPUD_WAITED_FILE_BPF_H

#include "waited_socket.bpf.h"
#include "waited_stack.bpf.h"

/* Files of the kernel's anonymous inode are told apart by their names. */
static __always_inline __u32 waited_on_anonymous(struct file *file)
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

/* Whether there is something to read in it, or it has come to its end. */
static __always_inline bool is_ready(struct file___waited *file, unsigned short type)
{
	struct pipe_inode_info___waited *pipe;
	struct socket *socket;
	struct sock___waited *sk;
	__u32 state;

	if (type == S_IFIFO) {
		pipe = BPF_CORE_READ(file, private_data);
		if (!bpf_core_field_exists(pipe->head) || !bpf_core_field_exists(pipe->writers))
			return false;
		return BPF_CORE_READ(pipe, head) != BPF_CORE_READ(pipe, tail) ||
		       !BPF_CORE_READ(pipe, writers);
	}
	if (type != S_IFSOCK)
		return false;
	socket = BPF_CORE_READ(file, private_data);
	sk = (void *)BPF_CORE_READ(socket, sk);
	if (!sk || !bpf_core_field_exists(sk->sk_receive_queue.qlen))
		return false;
	state = BPF_CORE_READ((struct sock *)sk, __sk_common.skc_state);
	if (state == TCP_LISTEN && BPF_CORE_READ(sk, sk_ack_backlog))
		return true;
	return BPF_CORE_READ(sk, sk_receive_queue.qlen) || BPF_CORE_READ(sk, sk_shutdown);
}

/* Keeps this file if the thread more likely waits on it than on the one kept so far. */
static __always_inline void waited_prefer(struct waited *waited, struct file *file, __u32 on,
					  unsigned short type)
{
	__u32 rank = on & OFFCPUD_ON_ASKED ? WAITED_RANK_ASKED : WAITED_RANK_ONE;

	if (waited->for_input && waited->ended && is_ready((struct file___waited *)file, type))
		rank = WAITED_RANK_READY;
	if (rank <= waited->rank)
		return;
	waited->rank = rank;
	waited->object = (__u64)file;
	waited->object_on = on;
}

/* Adds a file to what the thread waits on. */
SUBPROGRAM int waited_add(struct waited *waited, struct file *file)
{
	struct file___waited *content = (void *)file;
	struct inode *inode;
	unsigned short type;
	__u32 on;

	if (!file)
		return 0;
	waited->steps++;
	if (!waited->first)
		waited->first = (__u64)file;
	else if (waited->first != (__u64)file)
		waited->files++;
	inode = BPF_CORE_READ(file, f_inode);
	type = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	if (type == S_IFSOCK)
		on = waited_on_socket(waited, BPF_CORE_READ(content, private_data));
	else if (type == S_IFIFO)
		on = OFFCPUD_ON_PIPE;
	else if (BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_FS_MAGIC)
		on = waited_on_anonymous(file);
	else
		on = OFFCPUD_ON_OTHER;
	waited->on |= on;
	waited_prefer(waited, file, on, type);
	return 0;
}

static __always_inline struct waited *waited_at(__u32 place)
{
	return bpf_map_lookup_elem(&waiteds, &place);
}

static __always_inline bool file_writes_pipe(struct file **slot, __u64 pipe)
{
	struct file *file = NULL;

	if (bpf_probe_read_kernel(&file, sizeof(file), slot) || !file ||
	    (__u64)BPF_CORE_READ(file, f_inode) != pipe)
		return false;
	return BPF_CORE_READ((struct file___waited *)file, f_mode) & FMODE_WRITE;
}

/* Whether a process can write to the pipe. Looks at its first descriptors only, where pipes between
 * processes usually are. */
SUBPROGRAM bool holds_pipe(struct waited *waited, __u64 process)
{
	struct task_struct *task = (void *)process;
	struct fdtable *table;
	struct file **slots;
	__u32 slot, most;

	waited->steps += PIPE_DESCRIPTORS / 2;
	table = BPF_CORE_READ(task, files, fdt);
	most = BPF_CORE_READ(table, max_fds);
	slots = BPF_CORE_READ(table, fd);
	for (slot = 0; slot < PIPE_DESCRIPTORS && slot < most; slot++)
		if (file_writes_pipe(slots + slot, waited->pipe))
			return true;
	return false;
}

/* One process of a list, whose head is `from`. */
static int pipe_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	__u64 process, next;
	__u32 tgid;

	if (!waited || !waited->node || waited->node == waited->from)
		return 1;
	process = waited->node - bpf_core_field_offset(struct task_struct___waited, sibling);
	next = (__u64)BPF_CORE_READ((struct task_struct___waited *)process, sibling.next);
	waited->node = next;
	tgid = BPF_CORE_READ((struct task_struct *)process, tgid);
	if (tgid == waited->tgid || !holds_pipe(waited, process))
		return 0;
	waited->holder = tgid;
	waited->holder_process = process;
	return 1;
}

static __always_inline void pipe_ask(struct waited *waited, __u64 parent, __u32 place)
{
	waited->from = parent + bpf_core_field_offset(struct task_struct___waited, children);
	waited->node = (__u64)BPF_CORE_READ((struct task_struct___waited *)parent, children.next);
	bpf_loop(PIPE_PROCESSES, pipe_step, &place, 0);
}

/* Finds who can write to a pipe: among the reader's children, its siblings, as in a shell's
 * pipeline, and its parent. */
SUBPROGRAM int pipe_find(struct waited *waited, struct task_struct *task, __u32 place)
{
	__u64 parent = (__u64)BPF_CORE_READ(task, real_parent);
	struct file *file = (void *)waited->first;
	__u32 parent_tgid = BPF_CORE_READ((struct task_struct *)parent, tgid);

	waited->pipe = (__u64)BPF_CORE_READ(file, f_inode);
	waited->tgid = BPF_CORE_READ(task, tgid);
	if (holds_pipe(waited, (__u64)task))
		waited->on |= OFFCPUD_ON_OWN;
	pipe_ask(waited, (__u64)task, place);
	if (!waited->holder && parent_tgid > 1)
		pipe_ask(waited, parent, place);
	if (!waited->holder && holds_pipe(waited, parent))
		waited->holder = parent_tgid, waited->holder_process = parent;
	return 0;
}

#endif
