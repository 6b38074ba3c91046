/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks a pointer that may be NULL at the call that returns it, so that every compiler keeps the
 * check before the first use.
 *
 * A compiler may compute `pointer + 16` before the check, although the source checks first, because
 * this reads nothing; clang 19 and 22 do so. The verifier refuses it: "pointer arithmetic on
 * map_value_or_null prohibited" (adjust_ptr_min_max_vals). CHECKED contains the check, and returns
 * the result of an assembler statement in the checked branch. No compiler moves such a statement
 * (volatile) above a branch, so all arithmetic is on a value that the verifier knows: a pointer
 * that is not NULL, or the number 0. CHECKED costs no instruction but the check, and a second check
 * by the caller costs none.
 */
#ifndef OFFCPUD_CHECKED_BPF_H
#define OFFCPUD_CHECKED_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define CHECKED(pointer)                                                                           \
	({                                                                                         \
		typeof(pointer) checked_ = (pointer);                                              \
		if (checked_) {                                                                    \
			asm volatile("" : "+r"(checked_));                                         \
			__builtin_assume(checked_ != 0);                                           \
		}                                                                                  \
		checked_;                                                                          \
	})

/* The helpers themselves are redefined, so that no call can leave the check out. */
#define bpf_map_lookup_elem(map, key) CHECKED(bpf_map_lookup_elem(map, key))
#define bpf_task_storage_get(map, task, value, flags)                                              \
	CHECKED(bpf_task_storage_get(map, task, value, flags))
#define bpf_sock_from_file(file)	       CHECKED(bpf_sock_from_file(file))
#define bpf_ringbuf_reserve(ring, size, flags) CHECKED(bpf_ringbuf_reserve(ring, size, flags))

#endif
