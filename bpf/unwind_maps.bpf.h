/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps with the tables of unwind.h, which only the daemon writes, and the state of a walk. */
#ifndef OFFCPUD_UNWIND_MAPS_BPF_H
#define OFFCPUD_UNWIND_MAPS_BPF_H

#include "unwind.h"

/* The size of a page; the daemon sets it before load. */
const volatile __u32 unwind_page_shift = 12;
/* Offsets that the daemon sets before load: from a btrfs file's inode to the pointer to the root of
 * its subvolume (struct btrfs_inode), and from there to the device that stat() reports (struct
 * btrfs_root). 0: not known. */
const volatile __s64 unwind_btrfs_root_at = 0;
const volatile __u64 unwind_btrfs_device_at = 0;

/* Most mappings take 4 to 6 prefixes, a few many more. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, struct offcpud_unwind_mapping_key);
	__type(value, struct offcpud_unwind_mapping);
} unwind_mappings SEC(".maps");

/* 65,536 pages are 4 GiB of text. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct offcpud_unwind_page_key);
	__type(value, struct offcpud_unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct offcpud_unwind_file_key);
	__type(value, struct offcpud_unwind_file);
} unwind_files SEC(".maps");

/* The prototype of a chunk. The daemon makes a new chunk when all are full, so a host with few
 * programs does not pay for the limit. It has sizes instead of types, because libbpf 1.1 finds no
 * size of a type that is used only inside of another map. */
struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct offcpud_unwind_chunk));
};

/* Resized before load to the limit of memory: 4 chunks are 1 MiB. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 256);
	__uint(key_size, sizeof(__u32));
	__array(values, struct unwind_chunk_map);
} unwind_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, OFFCPUD_UNWIND_MAX_RULES);
	__type(key, __u32);
	__type(value, struct offcpud_unwind_rule);
} unwind_rules SEC(".maps");

/* How often a walk in an interrupt may pause: in a process that the daemon does not know yet, once
 * for each object on the way. */
#define OFFCPUD_UNWIND_PAUSES 16

/* The state of a walk. In a map, because since 6.7 the verifier follows what the callback of
 * bpf_loop does to values on the stack through every iteration. */
struct unwind_walk {
	struct offcpud_unwind_stack stack;
	struct offcpud_unwind_mapping mapping; /* that the last frame is in */
	__u64 ip, sp, bp, di;
	__u32 tgid;    /* big-endian */
	__u32 exact;   /* ip is the next instruction, not a return address */
	__u32 first;   /* the innermost frame: di is the thread's */
	__u32 locked;  /* a program on this CPU walks, or reads the result */
	__u32 paused;  /* the thread whose walk the next interrupt continues; 0: none */
	__u64 episode; /* when that thread took the CPU */
	__u32 pauses_left;
	__u32 busy; /* the kernel could not be asked what it maps at ip */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_walk);
} unwind_walks SEC(".maps");

#endif
