/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports what certain blocked threads wait for, when the daemon asks: lines of text, each a
 * keyword and its values. daemon/kernel/wait_text.cpp reads them. */
#include "path.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_endian.h>

#define STACK_FRAMES 64

/* The threads that the daemon asks about. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);  /* tid, initial namespace */
	__type(value, __u8); /* nothing */
} asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[STACK_FRAMES]);
} stack_frames SEC(".maps");

static __always_inline bool is_asked(struct task_struct *task)
{
	__u32 tid = task->pid;

	return bpf_map_lookup_elem(&asked, &tid);
}

/* When the thread's block began, by which the daemon knows it; 0: it is not blocked. */
static __always_inline __u64 blocked_since(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (!thread)
		return 0;
	switch (smp_load_acquire(&thread->state)) { /* pairs with thread_begin() */
	case THREAD_BLOCKED:
		return READ_ONCE(thread->since_ns);
	case THREAD_FOUND_WAITING:
		return READ_ONCE(thread->found.asleep_ns);
	default:
		return 0;
	}
}

/* Prints the functions of the kernel stack. The kernel names them (%pB). */
SEC("iter/task")
int describe_stacks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct seq_file *seq = ctx->meta->seq;
	__u32 zero = 0;
	__u64 since_ns, *frames;
	long bytes;

	if (!task || !is_asked(task))
		return 0;
	since_ns = blocked_since(task);
	frames = bpf_map_lookup_elem(&stack_frames, &zero);
	if (!since_ns || !frames)
		return 0;
	BPF_SEQ_PRINTF(seq, "thread %u %llu\n", task->pid, since_ns);
	bytes = bpf_get_task_stack(task, frames, STACK_FRAMES * sizeof(__u64), 0);
	for (int i = 0; i < STACK_FRAMES && (i + 1) * (long)sizeof(__u64) <= bytes; i++)
		BPF_SEQ_PRINTF(seq, "frame %pB\n", (void *)frames[i]);
	return 0;
}

/* The enum offcpud_syscall_class of a system call, by its number alone. */
static __always_inline __u32 class_of_number(unsigned long number, bool compat)
{
	if (number >= OFFCPUD_SYSCALLS)
		return OFFCPUD_CLASS_OTHER;
	return compat ? compat_syscall_class[number] : syscall_class[number];
}

/* Prints a text as numbers: programs choose it, and it must not look like another line. */
#define PRINT_TEXT(seq, keyword, words)                                                            \
	for (int i_ = 0; i_ < (int)(sizeof(words) / sizeof((words)[0])) && (words)[i_]; i_ += 4)   \
	BPF_SEQ_PRINTF(seq, keyword " %llx %llx %llx %llx\n", (words)[i_], (words)[i_ + 1],        \
		       (words)[i_ + 2], (words)[i_ + 3])

static __always_inline void describe_file_system(struct seq_file *seq, struct path_texts *texts,
						 __u64 at)
{
	struct super_block___path *names = (void *)at;
	__u32 device = BPF_CORE_READ((struct super_block *)at, s_dev);

	bpf_probe_read_kernel_str(texts->type, sizeof(texts->type),
				  BPF_CORE_READ(names, s_type, name));
	bpf_probe_read_kernel_str(texts->subtype, sizeof(texts->subtype),
				  BPF_CORE_READ(names, s_subtype));
	BPF_SEQ_PRINTF(seq, "filesystem %u\n", device);
	PRINT_TEXT(seq, "type", texts->type);
	PRINT_TEXT(seq, "subtype", texts->subtype);
}

/* Prints the parts of the working directory's path, innermost first, and "root" after the last one.
 * The thread may end meanwhile, so this does not use bpf_d_path(), which trusts its argument. */
static __always_inline void describe_directory(struct seq_file *seq, struct task_struct *task,
					       struct path_texts *texts)
{
	struct task_struct___path *owner = (void *)task;
	struct fs_struct___path *fs = BPF_CORE_READ(owner, fs);
	struct dentry___path *dentry = BPF_CORE_READ(fs, pwd.dentry);
	struct mount___path *mount = mount_of(BPF_CORE_READ(fs, pwd.mnt)), *parent;
	__u64 *part = texts->part;

	for (int i = 0; i < PARTS && dentry && mount; i++) {
		if (dentry != BPF_CORE_READ(mount, mnt.mnt_root)) {
			bpf_probe_read_kernel_str(part, PART_BYTES,
						  BPF_CORE_READ(dentry, d_name.name));
			BPF_SEQ_PRINTF(seq, "part %llx %llx %llx %llx %llx %llx %llx %llx\n",
				       part[0], part[1], part[2], part[3], part[4], part[5],
				       part[6], part[7]);
			dentry = BPF_CORE_READ(dentry, d_parent);
			continue;
		}
		parent = BPF_CORE_READ(mount, mnt_parent);
		if (parent == mount) {
			BPF_SEQ_PRINTF(seq, "root\n");
			return;
		}
		dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		mount = parent;
	}
}

/* Prints the path of the call, and the file system on which the kernel looks it up or for whose
 * FUSE server the thread waits. Prints nothing unless the thread was blocked all the time. */
static __always_inline void describe_path(struct seq_file *seq, struct task_struct *task,
					  __u64 since_ns)
{
	struct path_texts *texts;
	struct fuse_search fuse;
	struct path_found found;
	__u32 zero = 0;

	texts = bpf_map_lookup_elem(&path_texts, &zero);
	if (!texts || !read_files)
		return;
	__builtin_memset(texts, 0, sizeof(*texts));
	path_find(&found, task);
	if (found.name)
		bpf_probe_read_kernel_str(texts->path, sizeof(texts->path), (void *)found.name);
	fuse_find(&fuse, task);
	if (fuse.super)
		found.super = fuse.super;
	if (blocked_since(task) != since_ns)
		return;
	if (texts->path[0]) {
		BPF_SEQ_PRINTF(seq, "path %d %u\n", found.dfd, found.type);
		PRINT_TEXT(seq, "name", texts->path);
	}
	if (texts->path[0] && path_is_from_here(&found, texts))
		describe_directory(seq, task, texts);
	if (found.super)
		describe_file_system(seq, texts, found.super);
}

static __always_inline void describe_syscall(struct seq_file *seq, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool compat = task->thread_info.status & TS_COMPAT;

	if ((int)regs->orig_ax < 0)
		return; /* in no system call, but in an exception */
	/* restart_syscall has no arguments: the registers have those of the restarted call. */
	if (class_of_number(regs->orig_ax, compat) == OFFCPUD_CLASS_RESTART)
		BPF_SEQ_PRINTF(seq, "%s %d\n", compat ? "compat" : "syscall", (int)regs->orig_ax);
	else if (compat)
		BPF_SEQ_PRINTF(seq, "compat %d %llx %llx %llx %llx %llx %llx\n", (int)regs->orig_ax,
			       regs->bx, regs->cx, regs->dx, regs->si, regs->di, regs->bp);
	else
		BPF_SEQ_PRINTF(seq, "syscall %d %llx %llx %llx %llx %llx %llx\n",
			       (int)regs->orig_ax, regs->di, regs->si, regs->dx, regs->r10,
			       regs->r8, regs->r9);
}

/* The owner of a lock that the kernel knows: an rt_mutex, as PI futexes are, and under PREEMPT_RT
 * every lock. The lowest bit says that somebody waits (kernel/locking/rtmutex_common.h). */
static __always_inline void describe_owner(struct seq_file *seq, struct task_struct *task)
{
	struct rt_mutex_waiter *waiter = task->pi_blocked_on;
	unsigned long owner;
	int tid = 0;

	if (!read_files || !waiter)
		return;
	owner = (unsigned long)BPF_CORE_READ(waiter, lock, owner) & ~1UL;
	bpf_probe_read_kernel(&tid, sizeof(tid),
			      (void *)owner + bpf_core_field_offset(struct task_struct, pid));
	if (tid)
		BPF_SEQ_PRINTF(seq, "owner %d\n", tid);
}

SEC("iter/task")
int describe_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct seq_file *seq = ctx->meta->seq;
	__u64 since_ns;

	if (!task || !is_asked(task) || task->flags & PF_KTHREAD)
		return 0;
	since_ns = blocked_since(task);
	if (!since_ns)
		return 0;
	BPF_SEQ_PRINTF(seq, "thread %u %llu\n", task->pid, since_ns);
	describe_syscall(seq, task);
	describe_owner(seq, task);
	describe_path(seq, task, since_ns);
	return 0;
}

static __always_inline void describe_socket(struct seq_file *seq, struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;
	__u16 remote_port = bpf_ntohs(common->skc_dport);
	const __u32 *local = common->skc_v6_rcv_saddr.in6_u.u6_addr32;
	const __u32 *remote = common->skc_v6_daddr.in6_u.u6_addr32;

	BPF_SEQ_PRINTF(seq, "socket %u %u %u %u %u %u", common->skc_family, sk->sk_type,
		       sk->sk_protocol, common->skc_state, common->skc_num, remote_port);
	if (common->skc_family == AF_INET)
		BPF_SEQ_PRINTF(seq, " %08x %08x", bpf_ntohl(common->skc_rcv_saddr),
			       bpf_ntohl(common->skc_daddr));
	else if (common->skc_family == AF_INET6)
		BPF_SEQ_PRINTF(seq, " %08x%08x%08x%08x %08x%08x%08x%08x", bpf_ntohl(local[0]),
			       bpf_ntohl(local[1]), bpf_ntohl(local[2]), bpf_ntohl(local[3]),
			       bpf_ntohl(remote[0]), bpf_ntohl(remote[1]), bpf_ntohl(remote[2]),
			       bpf_ntohl(remote[3]));
	BPF_SEQ_PRINTF(seq, "\n");
}

/* The descriptor that the daemon asks about; it limits the walk to one thread. */
__u32 asked_fd = 0;

SEC("iter/task_file")
int describe_file(struct bpf_iter__task_file *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct file *file = CHECKED(ctx->file);
	struct inode *inode;
	struct socket *socket;
	char path[256];

	if (!file || !ctx->task || ctx->fd != asked_fd)
		return 0;
	inode = file->f_inode;
	if (bpf_d_path(&file->f_path, path, sizeof(path)) > 0)
		BPF_SEQ_PRINTF(seq, "file %s\n", path);
	if ((inode->i_mode & S_IFMT) == S_IFBLK)
		BPF_SEQ_PRINTF(seq, "device %u\n", inode->i_rdev);
	else
		BPF_SEQ_PRINTF(seq, "device %u %s\n", inode->i_sb->s_dev, inode->i_sb->s_id);
	socket = bpf_sock_from_file(file);
	if (socket && socket->sk)
		describe_socket(seq, socket->sk);
	return 0;
}
