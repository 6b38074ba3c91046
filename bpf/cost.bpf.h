/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs cost, measured by themselves. BPF's own statistics (kernel.bpf_stats_enabled)
 * would time every execution and need CAP_SYS_ADMIN. */
#ifndef OFFCPUD_COST_BPF_H
#define OFFCPUD_COST_BPF_H

#include "maps.bpf.h"

/* One execution in 1,024 times itself, and stands for 1,024. */
#define COST_SHIFT 10

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OFFCPUD_PROGRAMS);
	__type(key, __u32);
	__type(value, struct offcpud_cost);
} costs SEC(".maps");

/* Whether this execution times itself. Decides by a time in nanoseconds that the caller has read
 * anyway, without a random number or a counter. Multiplies it, so that clocks with coarse ticks
 * will do, too (Knuth, The Art of Computer Programming 3, 6.4: multiplicative hashing). */
static __always_inline bool cost_is_timed(__u64 ns)
{
	return unlikely((__u32)ns * 2654435769U < 1U << (32 - COST_SHIFT));
}

/* Adds the time since `begun_ns`. The entry of the program, some 0.1 us, is not in it. */
SUBPROGRAM int cost_add(__u32 program, __u64 begun_ns, __u32 runs)
{
	struct offcpud_cost *cost = bpf_map_lookup_elem(&costs, &program);
	__u64 now = bpf_ktime_get_ns();

	if (!cost || now < begun_ns)
		return 0;
	cost->runs += runs;
	cost->ns += (now - begun_ns) * runs;
	return 0;
}

static __always_inline void cost_add_sampled(__u32 program, __u64 begun_ns)
{
	cost_add(program, begun_ns, 1U << COST_SHIFT);
}

#endif
