/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/*
 * How to step from a frame to its caller, as the kernel programs and the daemon share it: the
 * daemon compiles the .eh_frame of every object that is mapped executable into rows, and
 * unwind.bpf.h walks user stacks by them. Layout and meaning only, as in offcpud.h.
 *
 *   unwind_mappings  {tgid, address}  -> which object is there, and its bias
 *   unwind_pages     {object, page}   -> the rows of 64 KiB of its addresses
 *   unwind_chunks    chunk            -> 65,536 rows
 *   unwind_rules     row.rule         -> the rule
 *
 * x86-64. Register numbers are those of the System V ABI, AMD64 supplement, figure 3.36.
 */
#ifndef OFFCPUD_UNWIND_H
#define OFFCPUD_UNWIND_H

#include <linux/types.h>

#include "static_assert.h"

/*
 * Where the caller's frame is. The CFA is what the stack pointer was before the call; the return
 * address lies in the 8 bytes below it, unless a kind says otherwise.
 */
enum offcpud_unwind_kind {
	OFFCPUD_UNWIND_INVALID, /* a rule that cannot be followed here */
	OFFCPUD_UNWIND_RSP,	/* CFA = rsp + cfa_offset */
	OFFCPUD_UNWIND_RBP,	/* CFA = rbp + cfa_offset */
	OFFCPUD_UNWIND_PLT,	/* CFA = rsp + 8, and 8 more if (rip & 15) >= cfa_offset */
	OFFCPUD_UNWIND_AT_RSP,	/* CFA = *(rsp + cfa_offset) + addend */
	OFFCPUD_UNWIND_AT_RBP,	/* CFA = *(rbp + cfa_offset) + addend */
	OFFCPUD_UNWIND_SIGNAL,	/* the kernel's rt_sigframe: registers in its sigcontext */
	OFFCPUD_UNWIND_END,	/* the outermost frame: its return address is undefined */
	OFFCPUD_UNWIND_RDI,	/* CFA = rsp + cfa_offset, the return address is in rdi: vfork */
	OFFCPUD_UNWIND_NO_FDE,	/* no table covers this address */
};

/* Where the caller's rbp is. */
enum offcpud_unwind_rbp {
	OFFCPUD_UNWIND_RBP_SAME,
	OFFCPUD_UNWIND_RBP_AT_CFA, /* *(CFA + rbp_offset) */
	OFFCPUD_UNWIND_RBP_AT_RBP, /* *(rbp + rbp_offset) */
	OFFCPUD_UNWIND_RBP_LOST,   /* not known; the walk goes on until a rule needs it */
};

/* Element of the array `unwind_rules`. Fields that its kind does not use are 0, so that equal rules
 * are equal bytes. */
struct offcpud_unwind_rule {
	__u8 kind; /* enum offcpud_unwind_kind */
	__u8 rbp;  /* enum offcpud_unwind_rbp */
	__u16 reserved;
	__s32 cfa_offset;
	__s32 addend;
	__s32 rbp_offset;
};
OFFCPUD_ASSERT(sizeof(struct offcpud_unwind_rule) == 16, "rules are compared bytewise");

/* Rules that always exist, at these indices. */
#define OFFCPUD_UNWIND_RULE_INVALID 0
#define OFFCPUD_UNWIND_RULE_NO_FDE  1
#define OFFCPUD_UNWIND_MAX_RULES    65536

/* Which rule holds from this address up to that of the next row. */
struct offcpud_unwind_row {
	__u16 address; /* low 16 bits; the page says the others */
	__u16 rule;    /* element of `unwind_rules` */
};
OFFCPUD_ASSERT(sizeof(struct offcpud_unwind_row) == 4, "the layout has no padding");

/* All rows of a chunk are one element of its map, because the kernel would round single rows up to
 * 8 bytes. */
#define OFFCPUD_UNWIND_CHUNK_ROWS 65536
struct offcpud_unwind_chunk {
	struct offcpud_unwind_row rows[OFFCPUD_UNWIND_CHUNK_ROWS];
};

#define OFFCPUD_UNWIND_PAGE_SHIFT 16

struct offcpud_unwind_page_key {
	__u32 object; /* id that the daemon gave; never used again */
	__u32 page;   /* address in the ELF file >> OFFCPUD_UNWIND_PAGE_SHIFT */
};

/* Rows first .. first + rows - 1 of a chunk, ascending; the first row is for the page's first byte.
 * `rows` is never 0. */
struct offcpud_unwind_page {
	__u32 chunk;
	__u32 first;
	__u32 rows;
};

#define OFFCPUD_UNWIND_NO_OBJECT 0 /* executable memory of unknown origin, such as JIT code */

/* Key of an LPM trie: the longest matching prefix wins. Both words are big-endian. */
struct offcpud_unwind_mapping_key {
	__u32 prefix_bits; /* of tgid and address; a lookup has 96 */
	__u32 tgid;	   /* in the daemon's PID namespace */
	__u64 address;
} __attribute__((packed));
OFFCPUD_ASSERT(sizeof(struct offcpud_unwind_mapping_key) == 16, "no padding");
#define OFFCPUD_UNWIND_KEY_BITS 96

struct offcpud_unwind_mapping {
	__u64 begin, end; /* of the whole mapping, not of the prefix */
	__u64 bias;	  /* address in memory - address in the ELF file */
	__u32 object;
	__u32 reserved;
};

/* Key of the hash `unwind_files`: a file that may be mapped by a process which the daemon does not
 * know yet. Device and inode are those of /proc/PID/maps, which on overlayfs differ from those of
 * stat(). On btrfs the device is that of stat(), because in /proc/PID/maps all subvolumes of a file
 * system have the same device, and their inode numbers repeat. `size` is part of the key
 * because inode numbers are reused, mostly for files of another size. */
struct offcpud_unwind_file_key {
	__u64 inode;
	__u64 size;   /* of the file, in bytes */
	__u32 device; /* as in the kernel: major << 20 | minor */
	__u32 reserved;
};

/* Executable segments, each from the beginning of its first page. Linkers make one for text, lld up
 * to two. Code in a fifth segment is found once the daemon knows the process. */
#define OFFCPUD_UNWIND_SEGMENTS 4
struct offcpud_unwind_file {
	__u32 object;
	__u32 segments;
	struct {
		__u64 first;   /* offset in the file, of the page */
		__u64 size;    /* in the file, from there on */
		__u64 address; /* of `first`, in the ELF file */
	} segment[OFFCPUD_UNWIND_SEGMENTS];
};

/* Why a walk ended. Only ROOT says that the stack is complete. The order is part of the layout. */
enum offcpud_unwind_end {
	OFFCPUD_UNWIND_END_ROOT,       /* the outermost frame */
	OFFCPUD_UNWIND_END_FP,	       /* frame pointers were followed, and led nowhere */
	OFFCPUD_UNWIND_END_NO_MAPPING, /* an address in memory that is not known */
	OFFCPUD_UNWIND_END_NO_RULE,    /* neither a table nor a frame pointer leads on */
	OFFCPUD_UNWIND_END_INVALID,    /* a rule that cannot be followed */
	OFFCPUD_UNWIND_END_READ,       /* the stack could not be read: not resident, or no stack */
	OFFCPUD_UNWIND_END_DEPTH,      /* more than OFFCPUD_UNWIND_FRAMES */
	OFFCPUD_UNWIND_END_COMPAT,     /* a 32-bit program: its first frame only */
	OFFCPUD_UNWIND_END_NO_USER,    /* a thread of the kernel: no frame at all */
	OFFCPUD_UNWIND_ENDS,
};

#define OFFCPUD_UNWIND_FRAMES 127

/* A user stack, innermost frame first. In the innermost frame and in one that a signal interrupted,
 * the address is that of the next instruction; the others are return addresses. */
struct offcpud_unwind_stack {
	__u32 frames;
	__u32 end;	 /* enum offcpud_unwind_end */
	__u32 fp_frames; /* frames that were found by a frame pointer */
	__u32 reserved;
	__u64 addresses[OFFCPUD_UNWIND_FRAMES + 1]; /* + 1: indices are masked */
};

#endif
