/* SPDX-License-Identifier: GPL-2.0-only */
/* What all programs use: the kernel's types, BPF's helpers, and loads through addresses that have
 * no type. */
#ifndef OFFCPUD_KERNEL_BPF_H
#define OFFCPUD_KERNEL_BPF_H

/* Before libbpf's headers, which use its types. */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Rare code is kept apart from what runs at every switch, in functions of its own or by these
 * hints: the programs share the first cache of the CPU with the scheduler. */
#ifndef likely /* bpf_helpers.h of libbpf 1.7 defines both, that of 1.5 does not */
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

/* A function of its own. The verifier goes through it at each call, with what it knows of the
 * caller's values, so arguments need no checks. One without a result returns 0: otherwise the
 * register of the result may keep an address of its stack, which the verifier refuses. */
#define SUBPROGRAM static __noinline

/*
 * Gives an address a type, on kernels that have this function. The loads after it are plain
 * instructions, which read 0 if they fault. On others bpf_probe_read_kernel does the same by a call
 * for each load; these calls made up a fifth of what all hooks cost. The verifier removes the
 * branch that is not taken.
 */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;
#define CAN_CAST	   bpf_core_enum_value_exists(enum special_kfunc_type, KF_bpf_rdonly_cast)
#define CAST(object, type) ((type *)bpf_rdonly_cast(object, bpf_core_type_id_kernel(type)))

/*
 * Read what is at an address: an int, a pointer, or two words that are no pointers. Only with
 * CAN_CAST. The cast works with structures only, so each function uses a structure of the kernel
 * that begins with what it reads.
 */
static __always_inline int cast_int(void *address)
{
	return CAST(address, struct upid)->nr;
}

static __always_inline void *cast_pointer(void *address)
{
	return CAST(address, struct hlist_head)->first;
}

static __always_inline void cast_two_words(void *address, __u64 words[2])
{
	struct timespec64 *both = CAST(address, struct timespec64);

	words[0] = both->tv_sec;
	words[1] = both->tv_nsec;
}

#endif
