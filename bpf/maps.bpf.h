/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps, and what the programs count besides waits. */
#ifndef OFFCPUD_MAPS_BPF_H
#define OFFCPUD_MAPS_BPF_H

#include "atomic.bpf.h"
#include "checked.bpf.h"
#include "kernel.bpf.h"
#include "offcpud.h"

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

/* Time that kernel threads have run on a CPU, and what keeps those of two CPUs apart. Not a per-CPU
 * array: of those, another CPU's element takes a call (12 ns), these do not. */
struct kernel_time {
	__u64 ns;
	__u64 unused[7];
};

/* Resized before load: possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_time);
} kernel_times SEC(".maps");

/* Resized before load: max_processes + 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_process);
} processes SEC(".maps");

/* Histograms of processes, one wherever a process has had a wait of that kind. Not sharded: they
 * would not fit, and the threads of one process are few CPUs' work (decision 0006). Element 0 stays
 * empty. Resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_hist);
} process_hists SEC(".maps");

/* The free elements of both; filled before attach. */
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

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024); /* 14,563: a file system thaws, and all wake at once */
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

/* Set by the daemon before load; the verifier removes what they switch off. */
const volatile __u32 shards = 1;
const volatile __u32 cpu_bits = 0;   /* possible CPUs <= 1 << cpu_bits */
const volatile __u8 own_shards = 0;  /* one for every possible CPU */
const volatile __u8 tell_wakers = 0; /* there is a preempt_count_at */
const volatile __u8 take_samples = 0;
const volatile __u32 free_mask = 0;
const volatile __u8 read_files = 1;	   /* 0 where lockdown forbids bpf_probe_read_kernel */
const volatile __s64 preempt_count_at = 0; /* distance from the CPU's run queue; see blame.bpf.h */
const volatile __u8 syscall_class[OFFCPUD_SYSCALLS] = {};
const volatile __u8 compat_syscall_class[OFFCPUD_SYSCALLS] = {};

/* What the hooks read all the time and the daemon writes now and then is on pages of its own: on a
 * line with what the programs write, every such write would take it from all other CPUs. */
#define SETTING SEC(".data.settings")

/* Blocks of these kinds (bits) that last longer are told when they end. */
__u64 stall_ns SETTING = ~0ULL;
__u32 stall_kinds SETTING = 0;

/* Set once the programs are attached; until then the walk only makes room. */
__u32 attached SETTING = 0;

/* Whether a set of kinds has this one. */
OFFCPUD_ASSERT(OFFCPUD_HIST_KINDS <= 32, "a set of kinds is a word");
#define has_kind(kinds, kind) (((kinds) >> ((kind)&31)) & 1)

/* Positions in the ring of free subjects; they only grow. */
__u64 free_head = 0;
__u64 free_tail = 0;

/* 0 or BPF_LOCAL_STORAGE_GET_F_CREATE; see on_task_newtask. */
const volatile __u64 create_flags = 0;

/* Atomic although the counters are per CPU: the programs on forks, cgroups and the iterator can be
 * interrupted by the others. */
static __always_inline int
loss_add_inline(__u32 loss) /* where a frame more would not fit the stack */
{
	__u64 *events = bpf_map_lookup_elem(&losses, &loss);

	if (events)
		atomic_add(events, 1);
	return 0;
}

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
