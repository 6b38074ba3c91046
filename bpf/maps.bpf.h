/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps and settings that the programs share, and the counters of losses. */
#ifndef OFFCPUD_MAPS_BPF_H
#define OFFCPUD_MAPS_BPF_H

#include "atomic.bpf.h"
#include "checked.bpf.h"
#include "kernel.bpf.h"
#include "offcpud.h"

/* The daemon resizes it before load: (max_cgroups + 1) * shards. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_subject);
} subjects SEC(".maps");

/* Resized before load: max_cgroups. Pre-allocated, because an insertion under the run-queue lock
 * must not enter the page allocator. Never LRU: only the daemon removes a key. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);   /* cgroup id */
	__type(value, __u32); /* subject */
} cgroup_subjects SEC(".maps");

/* A ring of free subjects. The daemon adds at free_tail, the programs take at free_head. Resized
 * before load: a power of two above max_cgroups. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} free_subjects SEC(".maps");

/* A subject that this CPU took from the ring and did not need, because another CPU found one for
 * the same cgroup first. The next cgroup gets it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} spare_subject SEC(".maps");

/* Resized before load: max_processes + 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_process);
} processes SEC(".maps");

/* Histograms of processes: one for each kind of wait that a process has had. Not sharded: shards
 * would not fit, and few CPUs run the threads of one process (decision 0006). Element 0 stays
 * empty. Resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_hist);
} process_hists SEC(".maps");

/* Free elements of `processes` and `process_hists`; the daemon fills both before it attaches. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_process_hists SEC(".maps");

/* Room for 14,563 records: when a file system thaws, all who waited for it wake at once. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} stall_ends SEC(".maps");

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

/* Constants. The daemon sets them before load, and the verifier removes what they switch off. */
const volatile __u32 shards = 1;
const volatile __u32 cpu_bits = 0;   /* possible CPUs <= 1 << cpu_bits */
const volatile __u8 own_shards = 0;  /* each possible CPU has a shard of its own */
const volatile __u8 tell_wakers = 0; /* preempt_count_at is known */
const volatile __u8 take_samples = 0;
const volatile __u8 find_tasks = 0;  /* the kernel has bpf_task_from_pid */
const volatile __u8 tell_takers = 0; /* note who had the CPU while threads waited for it */
const volatile __u32 free_mask = 0;
const volatile __u8 read_files = 1;	   /* 0: lockdown forbids bpf_probe_read_kernel */
const volatile __s64 preempt_count_at = 0; /* from a CPU's run queue; see blame.bpf.h */
const volatile __u8 syscall_class[OFFCPUD_SYSCALLS] = {};
const volatile __u8 compat_syscall_class[OFFCPUD_SYSCALLS] = {};

/* Settings: the programs read them at every event, the daemon writes them now and then. They have
 * pages of their own, because a cache line that is shared with counters would move from CPU to CPU
 * with every addition. */
#define SETTING SEC(".data.settings")

/* A block of one of these kinds (bits) that lasts longer than stall_ns is reported when it ends. */
__u64 stall_ns SETTING = ~0ULL;
__u32 stall_kinds SETTING = 0;

/* The window of offcpud_kept_off_times.takers to which the programs add. */
__u32 taker_window SETTING = 0;

/* Set once all programs are attached. Until then a walk only makes room for threads. */
__u32 attached SETTING = 0;

/* Positions in the ring of free subjects. They only grow. */
__u64 free_head = 0;
__u64 free_tail = 0;

/* BPF_LOCAL_STORAGE_GET_F_CREATE, or 0: see on_task_newtask. */
const volatile __u64 create_flags = 0;

/* Whether a set of kinds (bits) has this kind. */
#define KIND_MASK 31
OFFCPUD_ASSERT(OFFCPUD_HIST_KINDS <= KIND_MASK + 1, "a set of kinds is a word");
static __always_inline bool has_kind(__u32 kinds, __u32 kind)
{
	return (kinds >> (kind & KIND_MASK)) & 1;
}

/* The counters are per CPU, but the additions are atomic, because a program on forks, cgroups or
 * walks can be interrupted by another program. */
static __always_inline int loss_add_inline(__u32 loss)
{
	__u64 *events = bpf_map_lookup_elem(&losses, &loss);

	if (events)
		atomic_add(events, 1);
	return 0;
}

/* The ordinary form; the one above is for where one more stack frame would be too much. */
SUBPROGRAM int loss_add(__u32 loss)
{
	return loss_add_inline(loss);
}

SUBPROGRAM int count_add(__u32 what)
{
	__u64 *events = bpf_map_lookup_elem(&counts, &what);

	if (events)
		atomic_add(events, 1);
	return 0;
}

#endif
