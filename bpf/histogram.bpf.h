/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits into histograms: those of cgroups, and of processes where there is room. */
#ifndef OFFCPUD_HISTOGRAM_BPF_H
#define OFFCPUD_HISTOGRAM_BPF_H

#include "process.bpf.h"

/* The first wait of a kind. Threads of one process may come here on several CPUs at once; the first
 * exchange decides, and the others charge what it has put there. Not static: the verifier goes
 * through it once, not at every call. */
__noinline __u32 process_take_hist(struct offcpud_process *process, __u32 kind)
{
	__u32 hist, found, none = 0;
	struct offcpud_hist *empty = bpf_map_lookup_elem(&process_hists, &none);
	long error;

	if (!process || !empty || kind >= OFFCPUD_HIST_KINDS)
		return OFFCPUD_NO_HIST;
	error = bpf_map_pop_elem(&free_process_hists, &hist);
	if (error) {
		/* Left as it is where the list could not be asked: the next wait asks again. */
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

/* `alone`: nobody else adds to it meanwhile. An atomic addition takes 6 ns, a plain one next to
 * nothing. The slot comes first and readers take the sum first (LatencyHistogram in the daemon,
 * whose acquire this pairs with): an episode may be counted and its time missing for a moment, not
 * the other way round. */
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
	/* Counted are a thread that is born by its parent, which is not waiting meanwhile, and one
	 * that ends until its last switch. */
	if (hist)
		hist_add(hist, process->threads == 1, slot, ns);
}

#endif
