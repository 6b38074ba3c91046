/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to what several CPUs use at once, by the kernel's names (Documentation/atomic_t.txt,
 * Documentation/memory-barriers.txt):
 *
 *	READ_ONCE, WRITE_ONCE	one load, one store: not torn, repeated or left out
 *	smp_load_acquire(p)	what follows is read after *p
 *	smp_store_release(p, v)	what precedes is written before *p
 *	smp_rmb, smp_wmb	loads, or stores, before it are done before those after it
 *	atomic_add(p, v)	BPF_ADD without BPF_FETCH (x86: lock add). Orders nothing
 *	fetch_add(p, v)		BPF_ADD | BPF_FETCH (lock xadd). Fully ordered
 *	xchg(p, v)		BPF_XCHG. Fully ordered
 *	cmpxchg(p, old, new)	BPF_CMPXCHG. Fully ordered; returns what was there
 *
 * clang 14, 19 and 22 compile them alike; tests/integration/hooks checks the clang in use.
 * The __sync_ functions leave the choice to the compiler: up to LLVM 19, a __sync_fetch_and_add
 * whose result is not used is an atomic_add, in LLVM 22 a fetch_add. The result of a relaxed
 * addition must not be used: LLVM 22 compiles it without BPF_FETCH, and the result is the number
 * that was added.
 *
 * Up to 6.14, BPF has neither barriers nor ordered loads and stores (since 6.15: BPF_LOAD_ACQ and
 * BPF_STORE_REL). x86 keeps loads in order, and stores, so only the compiler has to be told. On
 * other architectures, an atomic instruction that returns a value serves as a full barrier:
 * correct, but slower.
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
