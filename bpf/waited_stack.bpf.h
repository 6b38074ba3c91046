/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel stack of a blocked thread, which does not change while it sleeps. */
#ifndef OFFCPUD_WAITED_STACK_BPF_H
#define OFFCPUD_WAITED_STACK_BPF_H

#include "waited_types.bpf.h"

/* The bytes in use, from this stack pointer on. */
static __always_inline __u64 stack_bytes(__u64 from)
{
	return (from | (STACK_BYTES - 1)) + 1 - from;
}

/* Copies the words at the top of the thread's stack, by one read. Returns how many; 0: none. */
static __always_inline __u32 waited_copy_stack(struct waited *waited, struct task_struct *task)
{
	struct task_struct___waited *stack = (void *)task;
	__u64 bytes;

	if (!bpf_core_field_exists(stack->thread.sp))
		return 0;
	waited->task = (__u64)task;
	waited->from = BPF_CORE_READ(stack, thread.sp);
	bytes = stack_bytes(waited->from);
	if (bytes > sizeof(waited->words))
		bytes = sizeof(waited->words);
	if (bpf_probe_read_kernel(waited->words, bytes, (void *)waited->from))
		return 0;
	return bytes / sizeof(__u64);
}

#endif
