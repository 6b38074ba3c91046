/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every pointer that may be NULL is checked in the place where it comes from, whatever compiler
 * built the programs.
 *
 * To a compiler `pointer + 16` is harmless as long as nobody reads there, so it may compute it
 * before the check that the source has first. clang 19 and 22 do. The verifier refuses that:
 * "pointer arithmetic on map_value_or_null prohibited" (adjust_ptr_min_max_vals). Here the check
 * comes with the call, and what leaves CHECKED is new to the compiler: it is made by an assembler
 * statement that only the checked path has, and such a statement is never moved above a branch
 * (volatile). So any arithmetic is on a value that the verifier knows to be one or the other: a
 * pointer that is not NULL, or the number 0. Emits no instruction but the check, and a caller that
 * checks again does so for free.
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

/* Under the helpers' own names, so that no call can do without. */
#define bpf_map_lookup_elem(map, key) CHECKED(bpf_map_lookup_elem(map, key))
#define bpf_task_storage_get(map, task, value, flags)                                              \
	CHECKED(bpf_task_storage_get(map, task, value, flags))
#define bpf_sock_from_file(file)	       CHECKED(bpf_sock_from_file(file))
#define bpf_ringbuf_reserve(ring, size, flags) CHECKED(bpf_ringbuf_reserve(ring, size, flags))

#endif
