/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds waits to histograms: those of cgroups, and of processes if there is room. */
#ifndef OFFCPUD_HISTOGRAM_BPF_H
#define OFFCPUD_HISTOGRAM_BPF_H

#include "process.bpf.h"

/* The histogram for the first wait of this kind. Several threads of a process may come here at once
 * on several CPUs: the first exchange decides, and the others use what it has put there. A global
 * function, which the verifier goes through once and not at every call. */
__noinline __u32 process_take_hist(struct offcpud_process *process, __u32 kind)
{
	__u32 hist, found, none = 0;
	struct offcpud_hist *empty = bpf_map_lookup_elem(&process_hists, &none);
	long error;

	if (!process || !empty || kind >= OFFCPUD_HIST_KINDS)
		return OFFCPUD_NO_HIST;
	error = bpf_map_pop_elem(&free_process_hists, &hist);
	if (error) {
		/* Where the list could not be asked, the next wait asks again. */
		found = error == -ENOENT ? cmpxchg(&process->hists[kind], 0, OFFCPUD_NO_HIST)
					 : READ_ONCE(process->hists[kind]);
		if (found)
			return found;
		loss_add(error == -ENOENT ? OFFCPUD_LOSS_PROCESSES_FULL : OFFCPUD_LOSS_FREE_LIST);
		return OFFCPUD_NO_HIST;
	}
	bpf_map_update_elem(&process_hists, &hist, empty, BPF_EXIST);
	found = cmpxchg(&process->hists[kind], 0, hist);
	if (!found)
		return hist;
	hist_put_back(hist);
	return found;
}

/* Counts a wait. `alone`: nobody else adds to this histogram meanwhile, so the additions need not
 * be atomic (6 ns each). The slot is written first, and readers read the sum first
 * (LatencyHistogram in the daemon, with acquire): for a moment an episode may be counted without
 * its time, never the other way round. */
static __always_inline void hist_add(struct offcpud_hist *hist, bool alone, __u32 slot, __u64 ns)
{
	if (alone) {
		hist->slots[slot]++;
		smp_store_release(&hist->sum_ns, hist->sum_ns + ns);
	} else {
		atomic_add(&hist->slots[slot], 1);
		smp_wmb();
		atomic_add(&hist->sum_ns, ns);
	}
}

static __always_inline void process_add(struct offcpud_process *process, __u32 kind, __u32 slot,
					__u64 ns)
{
	struct offcpud_hist *hist;
	__u32 place;

	if (!process)
		return;
	place = READ_ONCE(process->hists[kind]); /* pairs with cmpxchg in process_take_hist() */
	if (unlikely(!place))
		place = process_take_hist(process, kind);
	hist = bpf_map_lookup_elem(&process_hists, &place);
	/* `threads` counts a thread from its birth to its last switch. At its birth its parent
	 * runs, so no wait of the parent is accounted at the same time. */
	if (hist)
		hist_add(hist, process->threads == 1, slot, ns);
}

#endif
