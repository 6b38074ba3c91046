/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of threads in a PID namespace. */
#ifndef OFFCPUD_TID_BPF_H
#define OFFCPUD_TID_BPF_H

#include "maps.bpf.h"

/* How deep the daemon's PID namespace is, as the walk has seen it last; 0 is the initial one. */
__u32 reader_level = 0;

static __always_inline __u32 tid_in(struct pid *pid, unsigned int level)
{
	/* 1,023: 32 namespaces inside of each other at most, for the verifier of 6.1. */
	__u64 at = ((__u64)level * bpf_core_type_size(struct upid)) & 1023;
	__u32 tid = 0;

	if (read_files)
		bpf_probe_read_kernel(&tid, sizeof(tid),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					      at);
	return tid;
}

#endif
