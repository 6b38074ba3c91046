/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* Who loads which disk: what the kernel programs share with the daemon. */
#ifndef OFFCPUD_DISK_H
#define OFFCPUD_DISK_H

#include "offcpud.h"

/* The operations that io.stat distinguishes (block/blk-cgroup.c, blk_cgroup_io_type). */
enum offcpud_disk_operation {
	OFFCPUD_DISK_READ,
	OFFCPUD_DISK_WRITE,
	OFFCPUD_DISK_DISCARD,
	OFFCPUD_DISK_OPERATIONS,
};

/* Values in place of a cgroup's id. No cgroup has one of these ids. */
#define OFFCPUD_LOADER_KERNEL  0ULL    /* kernel threads; nobody knows for whom */
#define OFFCPUD_LOADER_UNKNOWN (~0ULL) /* the request's beginning was not seen */

/* Key of the hash `disk_loads`: who loads a disk. */
struct offcpud_disk_loader {
	__u64 cgroup_id; /* or OFFCPUD_LOADER_... */
	__u32 major;	 /* of the disk as a whole */
	__u32 minor;
};

#define OFFCPUD_DISK_NAME 32 /* DISK_NAME_LEN, NUL-terminated */

/* Value of `disk_loads`: the requests that were done since the entry was made. Only grows. */
struct offcpud_disk_load {
	__u64 bytes[OFFCPUD_DISK_OPERATIONS];
	__u64 requests[OFFCPUD_DISK_OPERATIONS];
	__u64 ns; /* from the beginning of each request to its end; requests overlap */
	char disk[OFFCPUD_DISK_NAME];
};

#define OFFCPUD_DISK_LOADERS 4096

#endif
