/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a thread that leaves the CPU blocks, and why: docs/semantics.md, "Reasons". */
#ifndef OFFCPUD_REASON_BPF_H
#define OFFCPUD_REASON_BPF_H

#include "thread.bpf.h"

#ifndef __TARGET_ARCH_x86
#error "only x86_64 is supported: add the registers of the system call's number and arguments here"
#endif

/*
 * Whether a thread that leaves the CPU is still queued. The tracepoint's prev_state argument is
 * used because task->__state may already be rewritten by a waker. Up to 6.15 the argument is stale
 * when a signal was pending (fixed by 8feb053d5319, 6.16): then the thread is still on the run
 * queue, which delayed dequeue (6.12, 152e11f6df29) alone also leaves a blocked thread on.
 */
static __always_inline bool stays_runnable(struct task_struct *task, bool preempt, __u32 state)
{
	if (preempt || !(state & TASK_SLEEPS))
		return true;
	if (!task->on_rq)
		return false;
	return !(bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed);
}

/* include/uapi/linux/futex.h */
#define FUTEX_CMD_MASK	      (~(128 | 256)) /* PRIVATE_FLAG, CLOCK_REALTIME */
#define FUTEX_WAIT_BITSET     9
#define FUTEX_WAIT_REQUEUE_PI 11

static __always_inline __u32 class_of_futex(unsigned long operation)
{
	operation &= FUTEX_CMD_MASK;
	if (operation == FUTEX_WAIT_BITSET || operation == FUTEX_WAIT_REQUEUE_PI)
		return OFFCPUD_CLASS_CONDVAR;
	return OFFCPUD_CLASS_LOCK;
}

/* BTF loads cannot follow an array of pointers, as the slots of a descriptor table are: cast. */
static __always_inline struct file *file_in(struct file **slot)
{
	struct file *file = NULL;

	if (CAN_CAST)
		return CAST(cast_pointer(slot), struct file);
	bpf_probe_read_kernel(&file, sizeof(file), slot);
	return file;
}

static __always_inline struct inode *inode_of(struct file *file)
{
	return CAN_CAST ? file->f_inode : BPF_CORE_READ(file, f_inode);
}

static __always_inline unsigned short type_of(struct inode *inode)
{
	return (CAN_CAST ? inode->i_mode : BPF_CORE_READ(inode, i_mode)) & S_IFMT;
}

static __always_inline unsigned long magic_of(struct inode *inode)
{
	return CAN_CAST ? inode->i_sb->s_magic : BPF_CORE_READ(inode, i_sb, s_magic);
}

/* File systems that no disk and no server is behind: what their files wait for are other threads
 * and locks of the kernel, or messages (/proc/kmsg, trace_pipe). */
static __always_inline bool is_in_memory(unsigned long magic)
{
	switch (magic) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* The file cannot go away: the thread that waits in it holds it. A thread of the same process may
 * however have put another file under the number meanwhile; then that one decides. */
static __always_inline __u32 class_of_file(struct task_struct *task, unsigned long number)
{
	struct files_struct *files = task->files;
	struct fdtable *table;
	struct inode *inode;
	unsigned long magic;
	unsigned short type;

	if (!read_files || !files)
		return OFFCPUD_CLASS_OTHER;
	table = files->fdt;
	if ((__u32)number >= table->max_fds)
		return OFFCPUD_CLASS_OTHER;
	inode = inode_of(file_in(table->fd + (__u32)number));
	type = type_of(inode);
	if (type == S_IFIFO)
		return OFFCPUD_CLASS_PIPE;
	if (type == S_IFSOCK)
		return OFFCPUD_CLASS_NETWORK;
	/* Before the file type: anonymous inodes have none up to 6.15 and S_IFREG from 6.16 on. */
	magic = magic_of(inode);
	if (magic == ANON_INODE_FS_MAGIC)
		return OFFCPUD_CLASS_POLL;
	if (type == S_IFBLK || (type == S_IFREG && !is_in_memory(magic)))
		return OFFCPUD_CLASS_DISK;
	return OFFCPUD_CLASS_OTHER;
}

/* The system call that a user thread is in: OFFCPUD_CLASS_OTHER outside of one (orig_ax is -1 or an
 * error code after an exception, so its low bits must not be taken for a number). What
 * restart_syscall goes on with is the last one, put into `last`, which is the thread's own at a
 * switch and the walk's at a walk; the one that a walk has seen counts until there was another. */
static __always_inline __u32 class_of_syscall(struct task_struct *task, struct thread *thread,
					      __u32 *last)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long number = regs->orig_ax, first, second;
	__u32 class;

	if (number >= OFFCPUD_SYSCALLS)
		return OFFCPUD_CLASS_OTHER;
	if (task->thread_info.status & TS_COMPAT) {
		class = compat_syscall_class[number];
		first = regs->bx;
		second = regs->cx;
	} else {
		class = syscall_class[number];
		first = regs->di;
		second = regs->si;
	}
	if (class == OFFCPUD_CLASS_RESTART)
		return thread->block.syscall_class ?: thread->seeded.syscall_class;
	if (class == OFFCPUD_CLASS_FUTEX)
		class = class_of_futex(second);
	else if (class == OFFCPUD_CLASS_FILE)
		class = class_of_file(task, first);
	*last = class;
	return class;
}

static __always_inline __u32 kind_of_class(__u32 class)
{
	return class >= OFFCPUD_CLASS_DISK && class <= OFFCPUD_CLASS_CHILD ? class - 1
									   : OFFCPUD_BLOCKED_OTHER;
}

/* Of a thread that is blocked in our eyes: it was woken so early that only its next switch can book
 * it (switch.bpf.h, was_woken_too_early()). */
static __always_inline bool thread_is_awake(struct task_struct *task, struct thread *thread)
{
	return READ_ONCE(thread->waking.waker) && READ_ONCE(task->__state) == TASK_RUNNING;
}

/* A kernel thread, or a kernel worker of a user process (io_uring, vhost). */
static __always_inline bool is_kernel_thread(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/* One that waits for work, which is what it does by design: it sleeps so that nobody counts it as
 * load (TASK_IDLE), or interruptibly although it gets no signals. */
static __always_inline bool is_idle_wait(bool kernel_thread, __u32 state)
{
	return kernel_thread && (state & (TASK_INTERRUPTIBLE | TASK_NOLOAD));
}

static __always_inline __u32 reason_of(struct task_struct *task, struct thread *thread,
				       __u32 *last_class, bool kernel_thread, __u32 state)
{
	bool interruptible = state & TASK_INTERRUPTIBLE;
	bool in_iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	__u32 class;

	if (state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return OFFCPUD_BLOCKED_STOPPED;
	/* A parent in vfork is marked as frozen too, for the freezer not to wait for it
	 * (kernel/fork.c, wait_for_vfork_done), but it waits uninterruptibly; what the freezer
	 * holds does not. */
	if (interruptible && BPF_CORE_READ_BITFIELD(task, frozen))
		return OFFCPUD_BLOCKED_STOPPED;
	if (in_iowait && !interruptible)
		return OFFCPUD_BLOCKED_DISK;
	if (kernel_thread)
		return in_iowait ? OFFCPUD_BLOCKED_DISK : OFFCPUD_BLOCKED_KERNEL;
	class = class_of_syscall(task, thread, last_class);
	/* io_uring_enter claims in_iowait for whatever it waits, a socket as well (io_uring/). */
	if (interruptible)
		return in_iowait && class != OFFCPUD_CLASS_POLL ? OFFCPUD_BLOCKED_DISK
								: kind_of_class(class);
	/* fsync waits for the journal uninterruptibly and without in_iowait (jbd2). */
	return class == OFFCPUD_CLASS_DISK ? OFFCPUD_BLOCKED_DISK : OFFCPUD_BLOCKED_KERNEL;
}

#endif
