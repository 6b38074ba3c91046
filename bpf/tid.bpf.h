/* SPDX-License-Identifier: GPL-2.0-only */
/* Thread numbers in PID namespaces. */
#ifndef OFFCPUD_TID_BPF_H
#define OFFCPUD_TID_BPF_H

#include "thread.bpf.h"

/* The daemon's PID namespace, as the last walk saw it: how deep it is nested (0: the initial one),
 * and the address of its struct pid_namespace. */
__u32 reader_level SETTING = 0;
__u64 reader_namespace SETTING = 0;

/* The kernel nests at most 32 namespaces (MAX_PID_NS_LEVEL); a struct upid has 16 bytes. The mask
 * is for the verifier of 6.1. */
#define UPID_OFFSET_MASK 1023

/* The struct upid that has a thread's number in its namespace of this level, and says which
 * namespace that is. */
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
	__u64 number = 0;

	if (read_files)
		bpf_probe_read_kernel(&number, sizeof(number),
				      upid_at(pid, level) + bpf_core_field_offset(struct upid, ns));
	return number;
}

/* A thread's number in the daemon's PID namespace; 0: it is not in it. */
static __always_inline __u32 local_tid(struct task_struct *task)
{
	__u32 level = reader_level;

	if (!level)
		return task->pid;
	/* Another namespace of the same depth has the same numbers. */
	if (task->thread_pid->level < level ||
	    namespace_at(task->thread_pid, level) != reader_namespace)
		return 0;
	return tid_in(task->thread_pid, level);
}

#endif
