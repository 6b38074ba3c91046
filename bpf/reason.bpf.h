/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a thread that leaves the CPU blocks, and why: docs/semantics.md, "Reasons". */
#ifndef OFFCPUD_REASON_BPF_H
#define OFFCPUD_REASON_BPF_H

#include "thread.bpf.h"

#ifndef __TARGET_ARCH_x86
#error "only x86_64 is supported: add the registers of the system call's number and arguments here"
#endif

/* Whether a thread that leaves the CPU stays queued. `state` is the tracepoint's prev_state,
 * because a waker may already have rewritten task->__state. Up to 6.15 prev_state is stale if a
 * signal was pending (fixed by 8feb053d5319, 6.16); such a thread is still on the run queue. A
 * blocked thread is on it only by delayed dequeue (6.12, 152e11f6df29). */
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

/* The file in a slot of a descriptor table. BTF has no loads through arrays of pointers, so the
 * slot is cast. */
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

static __always_inline unsigned short inode_type(struct inode *inode)
{
	return (CAN_CAST ? inode->i_mode : BPF_CORE_READ(inode, i_mode)) & S_IFMT;
}

static __always_inline unsigned long inode_magic(struct inode *inode)
{
	return CAN_CAST ? inode->i_sb->s_magic : BPF_CORE_READ(inode, i_sb, s_magic);
}

/* File systems with neither disk nor server behind them. Their files wait for other threads, for
 * locks of the kernel, or for messages (/proc/kmsg, trace_pipe). */
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

/* What a thread waits for when it reads or writes this descriptor. The file cannot go away, because
 * the thread holds it. If another thread of the process has put another file under the number
 * meanwhile, that file decides. */
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
	type = inode_type(inode);
	if (type == S_IFIFO)
		return OFFCPUD_CLASS_PIPE;
	if (type == S_IFSOCK)
		return OFFCPUD_CLASS_NETWORK;
	/* Decides before the type: anonymous inodes have none up to 6.15, and S_IFREG since. */
	magic = inode_magic(inode);
	if (magic == ANON_INODE_FS_MAGIC)
		return OFFCPUD_CLASS_POLL;
	if (type == S_IFBLK || (type == S_IFREG && !is_in_memory(magic)))
		return OFFCPUD_CLASS_DISK;
	return OFFCPUD_CLASS_OTHER;
}

/* How many bytes of a function's name are compared: enough to tell the functions below apart. The
 * walk has no room for more on the stack. */
#define NAME_START		 15
#define IS_FUNCTION(start, name) (!bpf_strncmp(start, NAME_START, name))

/*
 * The class of the call that restart_syscall continues. The thread's restart block has the function
 * that does so, and the kernel tells its name.
 *
 * The restart block keeps the function while the thread waits. Only futex_wait_restart replaces it,
 * before the wait, by do_no_restart_syscall, which itself never waits (kernel/futex/waitwake.c).
 * The futex operation is still the second argument: a restart changes no register but that of the
 * system call's number (arch/x86/kernel/signal.c).
 */
SUBPROGRAM __u32 class_of_restarted(struct task_struct *task, unsigned long second)
{
	char start[NAME_START + 1] = {};

	/* The kernel has three buffers for this on each CPU, for programs that interrupt one
	 * another (kernel/bpf/helpers.c, MAX_BPRINTF_NEST_LEVEL). */
	if (BPF_SNPRINTF(start, sizeof(start), "%ps", task->restart_block.fn) < 0)
		loss_add_inline(OFFCPUD_LOSS_RESTARTED);
	if (IS_FUNCTION(start, "hrtimer_nanosleep_restart") ||
	    IS_FUNCTION(start, "alarm_timer_nsleep_restart") ||
	    IS_FUNCTION(start, "posix_cpu_nsleep_restart"))
		return OFFCPUD_CLASS_SLEEP;
	if (IS_FUNCTION(start, "do_restart_poll"))
		return OFFCPUD_CLASS_POLL;
	if (IS_FUNCTION(start, "futex_wait_restart") || IS_FUNCTION(start, "do_no_restart_syscall"))
		return class_of_futex(second);
	return OFFCPUD_CLASS_OTHER;
}

/* The class of the system call that a user thread is in. OFFCPUD_CLASS_OTHER outside of one:
 * orig_ax is then -1, which idtentry_body stores in place of an exception's error code
 * (arch/x86/entry/entry_64.S). */
static __always_inline __u32 class_of_syscall(struct task_struct *task)
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
	if (class == OFFCPUD_CLASS_FUTEX)
		return class_of_futex(second);
	if (class == OFFCPUD_CLASS_FILE)
		return class_of_file(task, first);
	if (unlikely(class == OFFCPUD_CLASS_RESTART))
		return class_of_restarted(task, second);
	return class;
}

static __always_inline __u32 kind_of_class(__u32 class)
{
	return class >= OFFCPUD_CLASS_DISK && class <= OFFCPUD_CLASS_CHILD ? class - 1
									   : OFFCPUD_BLOCKED_OTHER;
}

/* Whether a thread whose state is BLOCKED is in fact awake: its waking came so early that its next
 * switch has to account it (was_woken_too_early()). */
static __always_inline bool thread_is_awake(struct task_struct *task, struct thread *thread)
{
	return READ_ONCE(thread->waking.waker) && READ_ONCE(task->__state) == TASK_RUNNING;
}

/* A kernel thread, or a kernel worker of a user process (io_uring, vhost). */
static __always_inline bool is_kernel_thread(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/* A kernel thread that waits for work, as it does by design: it sleeps without being counted as
 * load (TASK_IDLE), or interruptibly although it gets no signals. */
static __always_inline bool is_idle_wait(bool kernel_thread, __u32 state)
{
	return kernel_thread && (state & (TASK_INTERRUPTIBLE | TASK_NOLOAD));
}

static __always_inline __u32 reason_of(struct task_struct *task, bool kernel_thread, __u32 state)
{
	bool interruptible = state & TASK_INTERRUPTIBLE;
	bool in_iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	__u32 class;

	if (state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return OFFCPUD_BLOCKED_STOPPED;
	/* A parent in vfork is marked as frozen, too, so that the freezer does not wait for it
	 * (kernel/fork.c, wait_for_vfork_done). It waits uninterruptibly; a thread that the freezer
	 * holds does not. */
	if (interruptible && BPF_CORE_READ_BITFIELD(task, frozen))
		return OFFCPUD_BLOCKED_STOPPED;
	if (in_iowait && !interruptible)
		return OFFCPUD_BLOCKED_DISK;
	if (kernel_thread)
		return in_iowait ? OFFCPUD_BLOCKED_DISK : OFFCPUD_BLOCKED_KERNEL;
	class = class_of_syscall(task);
	/* io_uring_enter sets in_iowait whatever it waits for, a socket included (io_uring/). */
	if (interruptible)
		return in_iowait && class != OFFCPUD_CLASS_POLL ? OFFCPUD_BLOCKED_DISK
								: kind_of_class(class);
	/* fsync waits for the journal uninterruptibly and without in_iowait (jbd2). */
	return class == OFFCPUD_CLASS_DISK ? OFFCPUD_BLOCKED_DISK : OFFCPUD_BLOCKED_KERNEL;
}

#endif
