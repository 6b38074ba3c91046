/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of threads in a PID namespace. */
#ifndef OFFCPUD_TID_BPF_H
#define OFFCPUD_TID_BPF_H

#include "thread.bpf.h"

/* How deep the daemon's PID namespace is, as the walk has seen it last; 0 is the initial one. And
 * which it is: the address of its struct pid_namespace. */
__u32 reader_level SETTING = 0;
__u64 reader_namespace SETTING = 0;

/* The kernel nests at most 32 namespaces (MAX_PID_NS_LEVEL); a struct upid has 16 bytes. The mask
 * is for the verifier of 6.1. */
#define UPID_OFFSET_MASK 1023

/* Where a thread's number in the namespace of that level is, and whose it is: a struct upid. */
static __always_inline void *upid_at(struct pid *pid, unsigned int level)
{
	__u64 at = ((__u64)level * bpf_core_type_size(struct upid)) & UPID_OFFSET_MASK;

	return (void *)pid + bpf_core_field_offset(struct pid, numbers) + at;
}

static __always_inline __u32 tid_in(struct pid *pid, unsigned int level)
{
	__u32 tid = 0;

	if (read_files)
		bpf_probe_read_kernel(&tid, sizeof(tid), upid_at(pid, level));
	return tid;
}

static __always_inline __u64 namespace_at(struct pid *pid, unsigned int level)
{
	__u64 namespace = 0;

	if (read_files)
		bpf_probe_read_kernel(&namespace, sizeof(namespace),
				      upid_at(pid, level) + bpf_core_field_offset(struct upid, ns));
	return namespace;
}

/* That of a thread in the daemon's PID namespace; 0: it is not there. */
static __always_inline __u32 local_tid(struct task_struct *task)
{
	__u32 level = reader_level;

	if (!level)
		return task->pid;
	/* A namespace beside the daemon's has the same numbers. */
	if (task->thread_pid->level < level ||
	    namespace_at(task->thread_pid, level) != reader_namespace)
		return 0;
	return tid_in(task->thread_pid, level);
}

#endif
