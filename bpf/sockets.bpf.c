/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk over the sockets of all processes, of all network namespaces: who has which. */
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

/* Returns 1 once the time is over: the kernel ends the read, and the next one begins with the same
 * file (kernel/bpf/bpf_iter.c, bpf_iter_run_prog). */
SEC("iter/task_file")
int walk_sockets(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct file *file = CHECKED(ctx->file);
	struct offcpud_held_socket *record;
	struct socket *socket;
	struct inode *inode;
	__u32 zero = 0;

	if (!task || !file)
		return 0;
	if (bpf_ktime_get_ns() > READ_ONCE(sockets_until_ns))
		return 1;
	record = bpf_map_lookup_elem(&socket_records, &zero);
	socket = bpf_sock_from_file(file);
	if (!record || !socket || !read_files || is_kernel_thread(task))
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	inode = file->f_inode;
	peer_describe(&record->peer.socket, socket, inode->i_ino);
	if (!socket_is_wanted(&record->peer.socket))
		return 0;
	peer_set_process(&record->peer, task);
	record->uid = BPF_CORE_READ(task, real_cred, uid.val);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}
