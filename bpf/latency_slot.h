/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/*
 * Which histogram slot a duration belongs to: pure integer arithmetic, compiled into the kernel
 * programs and into the daemon, and tested exhaustively on the host.
 *
 * The slots are the buckets of a Prometheus native histogram of schema 2 in seconds: slot k holds
 * the durations (2^((k-81)/4), 2^((k-80)/4)] s, so that every power of two of a second is a slot
 * bound. Slot 0 holds everything up to 2^-20 s (953 ns), slot OFFCPUD_SLOTS - 1 everything above
 * 2^17 s (36 hours). Bounds are inclusive at the upper end, as `le` is.
 * Source of the grid: Prometheus native histogram specification, "Schema"
 * (https://prometheus.io/docs/specs/native_histograms/).
 */
#ifndef OFFCPUD_LATENCY_SLOT_H
#define OFFCPUD_LATENCY_SLOT_H

#include "latency_slot_table.h"

#define OFFCPUD_SCHEMA		 2
#define OFFCPUD_SLOTS_PER_OCTAVE 4
#define OFFCPUD_FIRST_OCTAVE	 (-20) /* slot 0 ends at 2^-20 s */
#define OFFCPUD_LAST_OCTAVE	 17    /* the last finite bound is 2^17 s */
#define OFFCPUD_SLOT_BOUNDS                                                                        \
	((OFFCPUD_LAST_OCTAVE - OFFCPUD_FIRST_OCTAVE) * OFFCPUD_SLOTS_PER_OCTAVE + 1)
#define OFFCPUD_SLOTS (OFFCPUD_SLOT_BOUNDS + 1) /* the last one is above every bound */

/* Makes the compiler forget what it knows of v. Otherwise it drops the mask of an index that it can
 * prove to be small; but the verifier up to 6.1 cannot follow the proof and needs the mask. */
#ifdef __bpf__
#define OFFCPUD_FORGET(v) __asm__ volatile("" : "+r"(v))
#else
#define OFFCPUD_FORGET(v)
#endif

/* 1 if v > bound; both are below 2^63. It has no branch: the CPU could not predict it, and a wrong
 * prediction costs more than all of this. Without branches, the verifier also follows one path,
 * instead of 64 after six steps. */
#define OFFCPUD_ABOVE(v, bound) ((unsigned int)(((bound) - (v)) >> 63))

/* Position of the highest set bit; v must be above 0 and below 2^63. BPF has no instruction that
 * counts leading zeros. */
static inline __attribute__((always_inline)) unsigned int offcpud_msb(unsigned long long v)
{
	unsigned int msb, step;

	OFFCPUD_FORGET(v); /* or the compiler makes a comparison and a branch of it */
	msb = OFFCPUD_ABOVE(v, 0xffffffffULL) << 5;
	v >>= msb;
	step = OFFCPUD_ABOVE(v, 0xffffULL) << 4;
	v >>= step;
	msb |= step;
	step = OFFCPUD_ABOVE(v, 0xffULL) << 3;
	v >>= step;
	msb |= step;
	step = OFFCPUD_ABOVE(v, 0xfULL) << 2;
	v >>= step;
	msb |= step;
	step = OFFCPUD_ABOVE(v, 0x3ULL) << 1;
	v >>= step;
	msb |= step;
	return msb | (unsigned int)(v >> 1);
}

/*
 * The slot of a duration. Its top OFFCPUD_CELL_BITS + 1 bits name a cell; a cell contains at most
 * one slot bound, so the slot of the cell's first value needs at most one correction.
 */
static inline __attribute__((always_inline)) unsigned int offcpud_slot(unsigned long long ns)
{
	unsigned int msb, cell, slot;

	if (ns <= OFFCPUD_FIRST_BOUND_NS)
		return 0;
	if (ns > OFFCPUD_LAST_BOUND_NS)
		return OFFCPUD_SLOTS - 1;
	msb = offcpud_msb(ns);
	cell = (msb << OFFCPUD_CELL_BITS) |
	       ((ns >> (msb - OFFCPUD_CELL_BITS)) & ((1U << OFFCPUD_CELL_BITS) - 1));
	OFFCPUD_FORGET(cell);
	slot = offcpud_cell_slot[cell & (OFFCPUD_CELLS - 1)];
	return slot + (ns > offcpud_slot_bound_ns[slot & (OFFCPUD_BOUNDS_PADDED - 1)]);
}

#endif
