/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk over the files of all processes, in all network namespaces. Tells who has which socket,
 * and who serves which FUSE file system. */
#include "peer.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_held_socket);
} socket_records SEC(".maps");

/* When one read of the walk ends (CLOCK_MONOTONIC); the daemon sets it before each. */
__u64 sockets_until_ns = 0;

/* Whether a peer may be found by this socket: by its port, or as the other end of a unix socket. */
static __always_inline bool socket_is_wanted(const struct offcpud_socket *socket)
{
	if (socket->family == AF_UNIX)
		return socket->peer_inode;
	return socket_is_inet(socket) && socket->local_port;
}

/* Describes a socket, or an open /dev/fuse. False: the file is neither, or nobody waits on it. */
static __always_inline bool held_describe(struct offcpud_peer *to, struct file *file)
{
	struct inode *inode = file->f_inode;
	struct socket *socket = bpf_sock_from_file(file);

	if (socket) {
		peer_describe(&to->socket, socket, inode->i_ino);
		return socket_is_wanted(&to->socket);
	}
	if (!is_fuse_device(inode))
		return false;
	to->device = fuse_served_by(file);
	to->flags = OFFCPUD_PEER_FUSE;
	return to->device;
}

/* Returns 1 once the time is over: the kernel ends the read, and the next one begins with the same
 * file (kernel/bpf/bpf_iter.c, bpf_iter_run_prog). */
SEC("iter/task_file")
int walk_sockets(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct file *file = CHECKED(ctx->file);
	struct offcpud_held_socket *record;
	__u32 zero = 0;

	if (!task || !file)
		return 0;
	if (bpf_ktime_get_ns() > READ_ONCE(sockets_until_ns))
		return 1;
	record = bpf_map_lookup_elem(&socket_records, &zero);
	if (!record || !read_files || is_kernel_thread(task))
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	if (!held_describe(&record->peer, file))
		return 0;
	peer_set_process(&record->peer, task);
	record->uid = BPF_CORE_READ(task, real_cred, uid.val);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}
