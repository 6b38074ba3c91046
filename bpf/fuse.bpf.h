/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which FUSE file system a thread waits for, and which one an open /dev/fuse serves. The daemon
 * says where the fields are: if FUSE is a module, the kernel's own types do not have those of FUSE.
 */
#ifndef OFFCPUD_FUSE_BPF_H
#define OFFCPUD_FUSE_BPF_H

#include "reason.bpf.h"
#include "waited_file.bpf.h"

/* Offsets in bytes. */
const volatile __u8 fuse_known = 0;		/* the others are set */
const volatile __u64 fuse_request_wait_at = 0;	/* fuse_req.waitq */
const volatile __u64 fuse_request_mount_at = 0; /* fuse_req.fm */
const volatile __u64 fuse_mount_super_at = 0;	/* fuse_mount.sb */
const volatile __u64 fuse_mount_link_at = 0;	/* fuse_mount.fc */
const volatile __u64 fuse_link_device_at = 0;	/* fuse_conn.dev */
const volatile __u64 fuse_file_link_at = 0;	/* fuse_dev.fc */

struct wait_queue_head___fuse {
	struct list_head___waited head;
} __attribute__((preserve_access_index));

struct super_block___fuse {
	void *s_fs_info;
} __attribute__((preserve_access_index));

#define FUSE_SUPER_MAGIC 0x65735546	   /* include/uapi/linux/magic.h */
#define FUSE_DEVICE	 (10U << 20 | 229) /* /dev/fuse, Documentation/admin-guide/devices.txt */

/* What the search costs, in steps as WALK_STEPS counts them. */
#define FUSE_STEPS 16

struct fuse_search {
	__u64 super;  /* struct super_block, only for reads that may fail; 0: nothing was found */
	__u32 device; /* fuse_conn.dev, by which the daemon finds the server */
	__u32 place;
};

static __always_inline __u32 fuse_device_of(__u64 link)
{
	__u32 device = 0;

	bpf_probe_read_kernel(&device, sizeof(device), (void *)link + fuse_link_device_at);
	return device;
}

/*
 * Whether the thread waits for the answer to a request (fs/fuse/dev.c, request_wait_answer): this
 * word of its stack is wait_queue_entry.private, and the queue is that of a request. Only the
 * thread that made a request waits for it. The memory is what it seems to be if the request's mount
 * has a file system of FUSE, which belongs to this very mount.
 */
static __always_inline bool fuse_is_request(struct fuse_search *search, __u64 private_at)
{
	__u64 entry = private_at -
		      bpf_core_field_offset(struct wait_queue_entry___waited, private) +
		      bpf_core_field_offset(struct wait_queue_entry___waited, entry);
	__u64 head = word_at(entry), request, mount, super;

	if (!head || word_at(head) != entry)
		return false;
	request = head - bpf_core_field_offset(struct wait_queue_head___fuse, head) -
		  fuse_request_wait_at;
	mount = word_at(request + fuse_request_mount_at);
	super = mount ? word_at(mount + fuse_mount_super_at) : 0;
	if (!super || BPF_CORE_READ((struct super_block *)super, s_magic) != FUSE_SUPER_MAGIC ||
	    (__u64)BPF_CORE_READ((struct super_block___fuse *)super, s_fs_info) != mount)
		return false;
	search->super = super;
	search->device = fuse_device_of(word_at(mount + fuse_mount_link_at));
	return true;
}

static int fuse_search_step(__u32 index, struct fuse_search *search)
{
	__u64 named_at = waited_named_at(waited_at(search->place), index);

	return named_at && fuse_is_request(search, named_at);
}

/* Finds, in a walk, the file system of the request for which the thread waits. The words at the top
 * of the stack suffice: few functions are called from where it waits. */
static __always_inline void fuse_find(struct fuse_search *search, struct task_struct *task)
{
	struct waited *waited = waited_at(WAITED_IN_WALK);

	__builtin_memset(search, 0, sizeof(*search));
	if (!waited || !fuse_known || !read_files || is_kernel_thread(task))
		return;
	search->place = WAITED_IN_WALK;
	bpf_loop(waited_copy_stack(waited, task), fuse_search_step, search, 0);
}

/* Whether a thread that blocks for this reason may wait for a FUSE server. */
static __always_inline bool may_wait_for_fuse(__u32 kind)
{
	return kind == OFFCPUD_BLOCKED_DISK || kind == OFFCPUD_BLOCKED_KERNEL ||
	       kind == OFFCPUD_BLOCKED_OTHER;
}

static __always_inline bool is_fuse_device(struct inode *inode)
{
	return inode_type(inode) == S_IFCHR && BPF_CORE_READ(inode, i_rdev) == FUSE_DEVICE;
}

/* The device of the file system that this open /dev/fuse serves; 0: none. The low bits of
 * private_data are flags (fs/fuse/fuse_dev_i.h, FUSE_DEV_PTR_MASK). */
static __always_inline __u32 fuse_served_by(struct file *file)
{
	__u64 served = (__u64)BPF_CORE_READ((struct file___waited *)file, private_data) & ~7ULL;
	__u64 link;

	if (!fuse_known || !served)
		return 0;
	link = word_at(served + fuse_file_link_at);
	return link ? fuse_device_of(link) : 0;
}

#endif
