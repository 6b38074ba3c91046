/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel stack of a blocked thread, which does not change while the thread sleeps. The
 * structure of a wait on it contains the thread's address, so searches look around each word that
 * is this address. */
#ifndef OFFCPUD_WAITED_STACK_BPF_H
#define OFFCPUD_WAITED_STACK_BPF_H

#include "waited_types.bpf.h"

/* The bytes in use, from this stack pointer on. */
static __always_inline __u64 stack_bytes(__u64 from)
{
	return (from | (STACK_BYTES - 1)) + 1 - from;
}

/* Copies the words at the top of the thread's stack, by one read, into `waited`. Returns how many;
 * 0: they cannot be read. */
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

/* The address on the stack of this word of the copy, if it is the thread's address; else 0. */
static __always_inline __u64 waited_named_at(const struct waited *waited, __u32 index)
{
	if (!waited || index >= WAITED_WORDS ||
	    waited->words[index & (WAITED_WORDS - 1)] != waited->task)
		return 0;
	return waited->from + index * sizeof(__u64);
}

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

#endif
