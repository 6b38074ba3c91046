/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What several CPUs read and write at once, by the kernel's names for it
 * (Documentation/memory-barriers.txt, Documentation/atomic_t.txt), and what it compiles to. The
 * same with clang 14, 19 and 22, as tests/integration/hooks checks for the one in use:
 *
 *	atomic_add(p, v)	lock *p += v		a BPF_ADD without BPF_FETCH. Orders nothing
 *	fetch_add(p, v)		atomic_fetch_add	BPF_ADD | BPF_FETCH. Fully ordered
 *	xchg(p, v)		xchg			BPF_XCHG. Fully ordered
 *	cmpxchg(p, old, new)	cmpxchg			BPF_CMPXCHG. Fully ordered, gives what was
 *there READ_ONCE, WRITE_ONCE	one load, one store	not torn, not repeated, not left out
 *
 * Not the old __sync_ functions, which leave the choice to the compiler: __sync_fetch_and_add
 * without use of its result is the first up to LLVM 19 and the second in LLVM 22 (on x86 a xadd
 * instead of an add). Nor a relaxed addition whose result is used: LLVM 22 compiles it to the
 *first, and the result is the number that was added.
 *
 * Order: up to 6.14 BPF has neither barriers nor loads and stores with an order. x86 needs none for
 * what is used here: it keeps loads in order, and stores, so the compiler alone has to be told. On
 * another architecture a value-returning atomic instruction is a full barrier; those two forms of
 * smp_store_release() and smp_load_acquire() are right there, and dearer. Whoever ports the
 *programs to a kernel from 6.15 on has BPF_LOAD_ACQ and BPF_STORE_REL for them.
 */
#ifndef OFFCPUD_ATOMIC_BPF_H
#define OFFCPUD_ATOMIC_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define READ_ONCE(x)	     (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))

#define atomic_add(pointer, amount) ((void)__atomic_fetch_add(pointer, amount, __ATOMIC_RELAXED))
#define fetch_add(pointer, amount)  __atomic_fetch_add(pointer, amount, __ATOMIC_SEQ_CST)
#define xchg(pointer, value)	    __atomic_exchange_n(pointer, value, __ATOMIC_SEQ_CST)
#define cmpxchg(pointer, expected, value)                                                          \
	({                                                                                         \
		typeof(*(pointer)) found_ = (expected);                                            \
		__atomic_compare_exchange_n(pointer, &found_, value, 0, __ATOMIC_SEQ_CST,          \
					    __ATOMIC_SEQ_CST);                                     \
		found_;                                                                            \
	})

#ifdef __TARGET_ARCH_x86
#define smp_rmb() barrier()
#define smp_wmb() barrier()
#define smp_store_release(pointer, value)                                                          \
	({                                                                                         \
		barrier();                                                                         \
		WRITE_ONCE(*(pointer), value);                                                     \
	})
#else
#define smp_rmb()                                                                                  \
	({                                                                                         \
		__u64 nobodys_ = 0;                                                                \
		(void)xchg(&nobodys_, 1);                                                          \
	})
#define smp_wmb()			  smp_rmb()
#define smp_store_release(pointer, value) ((void)xchg(pointer, value))
#endif

#define smp_load_acquire(pointer)                                                                  \
	({                                                                                         \
		typeof(*(pointer)) loaded_ = READ_ONCE(*(pointer));                                \
		smp_rmb();                                                                         \
		loaded_;                                                                           \
	})

#endif
