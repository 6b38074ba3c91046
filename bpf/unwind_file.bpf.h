/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the unwind table of a mapped file, which is named as in /proc/PID/maps. */
#ifndef OFFCPUD_UNWIND_FILE_BPF_H
#define OFFCPUD_UNWIND_FILE_BPF_H

#include "checked.bpf.h"
#include "kernel_types.h"
#include "unwind_maps.bpf.h"

/* The inode of a mapping; see user_file_of(). */
struct dentry___unwind {
	struct inode *d_inode;
} __attribute__((preserve_access_index));

struct path___unwind {
	struct dentry___unwind *dentry;
} __attribute__((preserve_access_index));

struct backing_file___unwind {
	struct path___unwind user_path;
} __attribute__((preserve_access_index));

struct file___unwind {
	unsigned int f_mode;
} __attribute__((preserve_access_index));

#define FMODE_NOACCOUNT (1U << 29) /* include/linux/fs.h */

/* include/uapi/linux/magic.h */
#define BTRFS_SUPER_MAGIC     0x9123683e
#define FUSE_SUPER_MAGIC      0x65735546
#define OVERLAYFS_SUPER_MAGIC 0x794c7630

/* The device of a btrfs file as stat() has it (btrfs_getattr): that of its subvolume, because
 * numbers of inodes repeat from subvolume to subvolume. 0: this kernel does not say. */
static __always_inline __u32 btrfs_device(struct inode *inode)
{
	void *root = NULL;
	__u32 device = 0;

	if (!unwind_btrfs_device_at)
		return 0;
	bpf_probe_read_kernel(&root, sizeof(root), (void *)inode + unwind_btrfs_root_at);
	bpf_probe_read_kernel(&device, sizeof(device), root + unwind_btrfs_device_at);
	return device;
}

/* The table of a file, by the key of offcpud_unwind_file_key. */
static __always_inline struct offcpud_unwind_file *file_of(struct inode *inode, __u64 number,
							   __u64 size, __u32 device, __u64 magic)
{
	struct offcpud_unwind_file_key key = {.inode = number, .size = size, .device = device};

	if (magic == BTRFS_SUPER_MAGIC) {
		key.device = btrfs_device(inode);
		if (!key.device)
			return NULL;
	}
	return bpf_map_lookup_elem(&unwind_files, &key);
}

/* The table of the file that the program asked to map, if the kernel maps another one in its place,
 * as overlayfs does. NULL: there is none. struct backing_file has the file in user_path since 6.7
 * (def3ae83da02). Only a file with FMODE_NOACCOUNT can be a backing file; it is one if the inode of
 * user_path is of a file system that has backing files. FMODE_BACKING says the same, but has had
 * several values. */
static __always_inline struct offcpud_unwind_file *user_file_of(struct file *file)
{
	struct backing_file___unwind *backing = (void *)file;
	struct inode *inode;
	__u64 magic;

	if (!bpf_core_field_exists(backing->user_path) ||
	    !(((struct file___unwind *)file)->f_mode & FMODE_NOACCOUNT))
		return NULL;
	inode = BPF_CORE_READ(backing, user_path.dentry, d_inode);
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	if (magic != OVERLAYFS_SUPER_MAGIC && magic != FUSE_SUPER_MAGIC)
		return NULL;
	return file_of(inode, BPF_CORE_READ(inode, i_ino), BPF_CORE_READ(inode, i_size),
		       BPF_CORE_READ(inode, i_sb, s_dev), magic);
}

static __always_inline struct offcpud_unwind_file *mapped_file(struct file *mapped)
{
	struct offcpud_unwind_file *file = user_file_of(mapped);
	struct inode *inode = mapped->f_inode;

	if (file)
		return file;
	/* The daemon names files as /proc/PID/maps does: on older kernels always by this inode. */
	return file_of(inode, inode->i_ino, inode->i_size, inode->i_sb->s_dev,
		       inode->i_sb->s_magic);
}

#endif
