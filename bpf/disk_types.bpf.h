/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types of block requests. Programs read these fields directly, by BTF, and never by
 * bpf_probe_read_kernel, so lockdown forbids none of it. */
#ifndef OFFCPUD_DISK_TYPES_BPF_H
#define OFFCPUD_DISK_TYPES_BPF_H

#include "disk.h"
#include "kernel.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct block_device;

struct bio {
	struct block_device *bi_bdev;
	struct blkcg_gq *bi_blkg; /* with CONFIG_BLK_CGROUP */
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[OFFCPUD_DISK_NAME];
};

struct request_queue {
	struct gendisk *disk; /* since 5.15; NULL: no disk, such as a tape */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	unsigned int __data_len;
	struct bio *bio;
	__u64 start_time_ns; /* CLOCK_MONOTONIC; 0: nobody wants statistics of this disk */
};

#pragma clang attribute pop

/* include/linux/blk_types.h */
#define REQ_OP_MASK    0xff
#define REQ_OP_OUT     1 /* in operations that move data to the disk: op_is_write() */
#define REQ_OP_DISCARD 3

/* include/linux/blk-mq.h. The flags have been numbers of bits since 6.11; before that RQF_FLUSH_SEQ
 * was 1 << 4. */
enum rqf_flags { __RQF_FLUSH_SEQ = 1 };

#endif
