/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps, and what the programs count besides waits. */
#ifndef OFFCPUD_MAPS_BPF_H
#define OFFCPUD_MAPS_BPF_H

#include "offcpud.h"

/* What a thread is doing. The SEEDED states are set by the iterator for threads whose state began
 * before the programs were attached; UNKNOWN until the first event or the iterator. */
enum thread_state {
	THREAD_UNKNOWN,
	THREAD_RUNNING,
	THREAD_RUNNABLE,
	THREAD_BLOCKED,
	THREAD_DEAD,
	THREAD_SEEDED_RUNNING,
	THREAD_SEEDED_WAITING,
};

/* Lives and dies with its task, so neither PID reuse nor migration can touch it. Written under the
 * run-queue lock of the task (sched_switch, sched_wakeup), except by the iterator, which only turns
 * UNKNOWN into a SEEDED state with a compare-and-swap. */
struct thread {
	__u64 since_ns;	     /* when `state` began */
	__u64 seeded_ns;     /* the same for the SEEDED states, written by the iterator alone */
	__u32 subject;	     /* index into `subjects` before sharding; whose it is, is said there */
	__u32 state;	     /* enum thread_state */
	__u32 kind;	     /* enum offcpud_hist_kind of the wait, when RUNNABLE or BLOCKED */
	__u32 syscall_class; /* of the last blocking system call, for restart_syscall */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Resized before load: (max_cgroups + 1) * shards. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_subject);
} subjects SEC(".maps");

/* Resized before load: max_cgroups. Pre-allocated: an insertion under the run-queue lock must not
 * enter the page allocator. Never LRU: only the daemon removes a key.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);   /* cgroup id */
	__type(value, __u32); /* subject */
} cgroup_subjects SEC(".maps");

/* Free subjects, a ring: the daemon puts them in at free_tail, the programs take them at free_head.
 * Resized before load: a power of two above max_cgroups. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} free_subjects SEC(".maps");

/* A subject taken from the ring but not used, because another CPU named the cgroup first. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} spare_subject SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPUD_LOSSES);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPUD_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} cgroup_events SEC(".maps");

/* Set by the daemon before load; the verifier removes what they switch off. */
const volatile __u32 shards = 1;
const volatile __u32 cpu_bits = 0; /* possible CPUs <= 1 << cpu_bits */
const volatile __u32 free_mask = 0;
const volatile __u8 read_files = 1; /* 0 where lockdown forbids bpf_probe_read_kernel */
const volatile __u8 syscall_class[OFFCPUD_SYSCALLS] = {};
const volatile __u8 compat_syscall_class[OFFCPUD_SYSCALLS] = {};

/* Positions in the ring of free subjects; they only grow. */
__u64 free_head = 0;
__u64 free_tail = 0;

/* Set once the programs are attached; until then the iterator only makes room. */
__u32 attached = 0;

/* 0 or BPF_LOCAL_STORAGE_GET_F_CREATE; see on_task_newtask. */
const volatile __u64 create_flags = 0;

static __always_inline struct thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, create_flags);
}

/* Atomic although the counters are per CPU: the programs on forks, cgroups and the iterator can be
 * interrupted by the others. */
static __always_inline int lose(__u32 loss)
{
	__u64 *events = bpf_map_lookup_elem(&losses, &loss);

	if (events)
		__sync_fetch_and_add(events, 1);
	return 0;
}

static __always_inline void count(__u32 what)
{
	__u64 *events = bpf_map_lookup_elem(&counts, &what);

	if (events)
		__sync_fetch_and_add(events, 1);
}

#endif
