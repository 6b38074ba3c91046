/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path by which a blocked thread's system call names a file, and the file system on which the
 * kernel looks it up. This reads the kernel's own copy of the path, never the program's memory: a
 * page of that may have to come from a server that is away.
 */
#ifndef OFFCPUD_PATH_BPF_H
#define OFFCPUD_PATH_BPF_H

#include "fuse.bpf.h"

struct filename___path {
	const char *name;
	const char *uptr; /* the argument of the system call */
	char iname[1];	  /* where name is, if it is short */
} __attribute__((preserve_access_index));

struct dentry___path {
	struct dentry___path *d_parent;
	struct qstr___waited d_name;
	struct super_block *d_sb;
	struct inode *d_inode;
} __attribute__((preserve_access_index));

struct vfsmount___path {
	struct dentry___path *mnt_root;
} __attribute__((preserve_access_index));

struct mount___path {
	struct mount___path *mnt_parent; /* itself: there is none */
	struct dentry___path *mnt_mountpoint;
	struct vfsmount___path mnt;
} __attribute__((preserve_access_index));

struct fs_struct___path {
	struct path pwd;
} __attribute__((preserve_access_index));

/* fs/namei.c: the state of a look-up, from its beginning until the file is open. */
struct nameidata___path {
	struct path path; /* how far it has come */
	struct filename___path *name;
	int dfd;
} __attribute__((preserve_access_index));

struct task_struct___path {
	struct fs_struct___path *fs;
	struct nameidata___path *nameidata;
} __attribute__((preserve_access_index));

struct file_system_type___path {
	const char *name;
} __attribute__((preserve_access_index));

struct super_block___path {
	struct file_system_type___path *s_type;
	const char *s_subtype;
} __attribute__((preserve_access_index));

#define AT_FDCWD (-100) /* include/uapi/linux/fcntl.h */

#define PATH_BYTES 256 /* longer ones are cut */
#define TYPE_BYTES 64
#define PART_BYTES 64 /* of a directory's name */
#define PARTS	   24 /* of a directory's path */

/* The lowest address of the kernel's half; and the bits that are 0 in the address of a long name,
 * which has an object of the cache of names to itself (PATH_MAX bytes; fs/namei.c,
 * getname_flags()). */
#define KERNEL_ADDRESSES 0xffff800000000000ULL
#define NAMES_CACHE_MASK 4095ULL

#define STACK_WORDS (STACK_BYTES / 8)

struct path_texts {
	__u64 path[PATH_BYTES / 8];
	__u64 part[PART_BYTES / 8]; /* of the directory from which a relative path begins */
	__u64 type[TYPE_BYTES / 8], subtype[TYPE_BYTES / 8]; /* of the file system */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_texts);
} path_texts SEC(".maps");

/* A path, and what the kernel knows of it. */
struct path_found {
	__u64 name;  /* address of the text; 0: none */
	__u64 super; /* struct super_block where the look-up is; 0: it is over */
	int dfd;     /* directory in which a relative path begins: a descriptor, or AT_FDCWD */
	__u32 type;  /* S_IFMT of the file where the look-up is */
};

/* Which argument of a native system call is its only path, 1 or 2, if the kernel keeps its copy of
 * the path until the call ends. 0: there is no such argument, or the kernel frees the copy after
 * the look-up (user_path_at), as for statfs: by then another thread's path may be in its place. */
static __always_inline __u32 path_argument(unsigned long number)
{
	switch (number) { /* arch/x86/entry/syscalls/syscall_64.tbl */
	case 2:		  /* open */
	case 4:		  /* stat */
	case 6:		  /* lstat */
	case 59:	  /* execve */
	case 83:	  /* mkdir */
	case 84:	  /* rmdir */
	case 85:	  /* creat */
	case 87:	  /* unlink */
	case 133:	  /* mknod */
		return 1;
	case 257: /* openat */
	case 258: /* mkdirat */
	case 259: /* mknodat */
	case 262: /* newfstatat */
	case 263: /* unlinkat */
	case 322: /* execveat */
	case 332: /* statx */
	case 437: /* openat2 */
		return 2;
	default:
		return 0;
	}
}

struct name_search {
	__u64 from, argument;
	__u64 name;
	__u64 differs; /* two copies of the argument were found: one is of an earlier call */
};

/* Whether a word of the stack is the address of the kernel's copy of the argument. */
static int name_search_step(__u32 index, struct name_search *search)
{
	__u64 file_name = word_at(search->from + index * sizeof(__u64)), name;
	struct filename___path *at = (void *)file_name;

	if (file_name < KERNEL_ADDRESSES || (__u64)BPF_CORE_READ(at, uptr) != search->argument)
		return 0;
	name = (__u64)BPF_CORE_READ(at, name);
	if (name < KERNEL_ADDRESSES ||
	    (name != file_name + bpf_core_field_offset(struct filename___path, iname) &&
	     name & NAMES_CACHE_MASK))
		return 0;
	search->differs = search->name && search->name != name;
	search->name = name;
	return search->differs;
}

/* Finds the path after its look-up, for instance while its file's attributes are read: then only
 * the function that made the copy still has its address, on the stack. */
static __always_inline void path_find_on_stack(struct path_found *found, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct task_struct___waited *stack = (void *)task;
	__u32 which = path_argument(regs->orig_ax), words;
	struct name_search search = {};

	if (!which || task->thread_info.status & TS_COMPAT ||
	    !bpf_core_type_exists(struct filename___path) ||
	    !bpf_core_field_exists(stack->thread.sp))
		return;
	search.argument = which == 1 ? regs->di : regs->si;
	if (!search.argument)
		return;
	search.from = BPF_CORE_READ(stack, thread.sp);
	words = stack_bytes(search.from) / sizeof(__u64);
	bpf_loop(words < STACK_WORDS ? words : STACK_WORDS, name_search_step, &search, 0);
	if (search.differs)
		return;
	found->name = search.name;
	found->dfd = which == 1 ? AT_FDCWD : (int)regs->di;
}

/* Whether a path begins in the working directory. */
static __always_inline bool path_is_from_here(const struct path_found *found,
					      const struct path_texts *texts)
{
	return (texts->path[0] & 0xff) != '/' && found->dfd == AT_FDCWD;
}

static __always_inline void path_find(struct path_found *found, struct task_struct *task)
{
	struct task_struct___path *named = (void *)task;
	struct nameidata___path *lookup = NULL;
	struct dentry___path *dentry;

	__builtin_memset(found, 0, sizeof(*found));
	if (bpf_core_field_exists(named->nameidata) && bpf_core_field_exists(lookup->name))
		lookup = BPF_CORE_READ(named, nameidata);
	if (!lookup) {
		path_find_on_stack(found, task);
		return;
	}
	found->name = (__u64)BPF_CORE_READ(lookup, name, name);
	found->dfd = BPF_CORE_READ(lookup, dfd);
	dentry = BPF_CORE_READ(lookup, path.dentry);
	found->super = (__u64)BPF_CORE_READ(dentry, d_sb);
	found->type = BPF_CORE_READ(dentry, d_inode, i_mode) & S_IFMT;
}

static __always_inline struct mount___path *mount_of(void *mount)
{
	return mount ? mount - bpf_core_field_offset(struct mount___path, mnt) : NULL;
}

#endif
