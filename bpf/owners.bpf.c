/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk over threads that finds those that hold locks. */
#include "lock.h"
#include "peer.bpf.h"

/* The threads that the daemon asks for: offcpud_owner_key(), OFFCPUD_OWNER_BY_TID. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFFCPUD_OWNERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u8); /* nothing */
} owners_asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_owner);
} owner_records SEC(".maps");

static __always_inline void owner_write(struct bpf_iter__task *ctx, struct task_struct *task,
					__u64 key)
{
	struct offcpud_owner *record;
	__u32 zero = 0;

	if (!bpf_map_lookup_elem(&owners_asked, &key))
		return;
	record = bpf_map_lookup_elem(&owner_records, &zero);
	if (!record)
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record->key = key;
	record->tid = task->pid;
	record->local_tid = local_tid(task);
	peer_set_process(&record->process, task);
	copy_comm(record->comm, task);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
}

SEC("iter/task")
int walk_owners(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct pid *pid;

	if (!task || !task->pid)
		return 0;
	owner_write(ctx, task, OFFCPUD_OWNER_BY_TID | (__u32)task->pid);
	pid = task->thread_pid;
	if (pid)
		owner_write(ctx, task, offcpud_owner_key(task->tgid, tid_in(pid, pid->level)));
	return 0;
}
