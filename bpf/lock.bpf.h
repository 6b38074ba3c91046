/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which lock a blocked thread waits for, and who holds it where the kernel itself knows that. Only
 * kernel memory is read here: a page of a program may have to come from a server that is away.
 */
#ifndef OFFCPUD_LOCK_BPF_H
#define OFFCPUD_LOCK_BPF_H

#include "lock.h"
#include "reason.bpf.h"
#include "waited_types.bpf.h"

/* Since 6.16, with CONFIG_DETECT_HUNG_TASK_BLOCKER: the address of the lock that a thread waits
 * for, with the kind of the lock in the low two bits (include/linux/hung_task.h). */
struct task_struct___lock {
	unsigned long blocker;
} __attribute__((preserve_access_index));

#define BLOCKER_MASK	     3UL
#define BLOCKER_MUTEX	     0UL
#define BLOCKER_RWSEM_READER 2UL
#define BLOCKER_RWSEM_WRITER 3UL

struct mutex___lock {
	atomic_long_t owner;
} __attribute__((preserve_access_index));

struct rw_semaphore___lock {
	atomic_long_t owner;
} __attribute__((preserve_access_index));

#define MUTEX_FLAGS	   7UL /* kernel/locking/mutex.c */
#define RWSEM_FLAGS	   3UL /* kernel/locking/rwsem.c */
#define RWSEM_READER_OWNED 1UL /* by readers: the rest is who was the last of them */

struct file_lock_context___lock {
	struct list_head___waited flc_flock, flc_posix;
} __attribute__((preserve_access_index));

struct inode___lock {
	struct file_lock_context___lock *i_flctx;
} __attribute__((preserve_access_index));

/* Since 6.9; before, the same fields are in struct file_lock. */
struct file_lock_core___lock {
	struct list_head___waited flc_list;
	int flc_pid;
} __attribute__((preserve_access_index));

struct file_lock___lock {
	struct list_head___waited fl_list;
	int fl_pid;
} __attribute__((preserve_access_index));

/* arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/fcntl.h */
#define NR_FCNTL     72
#define NR_FLOCK     73
#define F_SETLKW     7
#define F_OFD_SETLKW 38
#define LOCK_NB	     4
#define LOCK_UN	     8

#define FILE_LOCKS 8 /* the most that are looked at of one file */

/* The thread's number, if this is the address of a thread. */
static __always_inline __u32 lock_tid_at(unsigned long owner)
{
	int tid = 0;

	if (owner)
		bpf_probe_read_kernel(&tid, sizeof(tid),
				      (void *)owner +
					      bpf_core_field_offset(struct task_struct, pid));
	return tid;
}

/* Whether the thread is in a futex system call. False for 32-bit programs: their locks have another
 * layout. */
static __always_inline bool is_in_futex(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long number = regs->orig_ax;

	return !is_kernel_thread(task) && number < OFFCPUD_SYSCALLS &&
	       !(task->thread_info.status & TS_COMPAT) &&
	       syscall_class[number] == OFFCPUD_CLASS_FUTEX;
}

/* Describes an rt_mutex: a futex with priority inheritance or, under PREEMPT_RT, any lock of the
 * kernel. Its owner counts only if the thread still waits for it afterwards. */
static __always_inline void lock_find_pi(struct offcpud_lock *lock, struct task_struct *task)
{
	struct rt_mutex_waiter *waiter = READ_ONCE(task->pi_blocked_on);
	unsigned long owner;

	if (!waiter)
		return;
	lock->kind = is_in_futex(task) ? OFFCPUD_LOCK_PI : OFFCPUD_LOCK_MUTEX;
	owner = (unsigned long)BPF_CORE_READ(waiter, lock, owner);
	/* The lowest bit says that somebody waits (kernel/locking/rtmutex_common.h). */
	if (READ_ONCE(task->pi_blocked_on) == waiter)
		lock->owner_tid = lock_tid_at(owner & ~1UL);
}

/* Reads the lock's memory with probes, and then checks that the thread still waits for the lock,
 * because it may be gone. */
static __always_inline void lock_find_kernel(struct offcpud_lock *lock, struct task_struct *task)
{
	struct task_struct___lock *waiter = (void *)task;
	unsigned long blocker, at, type, owner;

	if (!bpf_core_field_exists(waiter->blocker))
		return;
	blocker = BPF_CORE_READ(waiter, blocker);
	at = blocker & ~BLOCKER_MASK;
	type = blocker & BLOCKER_MASK;
	if (!at)
		return;
	if (type == BLOCKER_MUTEX) {
		owner = BPF_CORE_READ((struct mutex___lock *)at, owner.counter) & ~MUTEX_FLAGS;
		lock->kind = OFFCPUD_LOCK_MUTEX;
	} else if (type == BLOCKER_RWSEM_READER || type == BLOCKER_RWSEM_WRITER) {
		owner = BPF_CORE_READ((struct rw_semaphore___lock *)at, owner.counter);
		lock->kind = OFFCPUD_LOCK_RWSEM;
		owner = owner & RWSEM_READER_OWNED ? 0 : owner & ~RWSEM_FLAGS;
	} else {
		return;
	}
	if (BPF_CORE_READ(waiter, blocker) == blocker)
		lock->owner_tid = lock_tid_at(owner);
}

/* The process that owns the lock in a file's list; 0: none, or an open file owns it. */
static __always_inline __u32 file_lock_owner(struct list_head___waited *entry)
{
	struct file_lock_core___lock *core = NULL;
	struct file_lock___lock *old = NULL;
	int tgid;

	if (bpf_core_type_exists(struct file_lock_core___lock)) {
		core = (void *)entry - bpf_core_field_offset(core->flc_list);
		tgid = BPF_CORE_READ(core, flc_pid);
	} else {
		old = (void *)entry - bpf_core_field_offset(old->fl_list);
		tgid = BPF_CORE_READ(old, fl_pid);
	}
	return tgid > 0 ? tgid : 0;
}

/* The only process that has locks on the file. 0: there is none; or there are several, of which
 * some may have locked other parts, so nobody knows which one is in the way. */
static __always_inline __u32 file_locks_owner(struct list_head___waited *head)
{
	struct list_head___waited *entry = BPF_CORE_READ(head, next);
	__u32 only = 0, owner;

	for (int i = 0; i < FILE_LOCKS; i++) {
		if (!entry || entry == head)
			return only;
		owner = file_lock_owner(entry);
		if (!owner || (only && owner != only))
			return 0;
		only = owner;
		entry = BPF_CORE_READ(entry, next);
	}
	return 0;
}

static __always_inline void lock_find_file(struct offcpud_lock *lock, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct files_struct *files = task->files;
	struct file_lock_context___lock *context;
	struct inode___lock *inode = NULL;
	struct fdtable *table;
	__u32 descriptor = regs->di, command = regs->si;
	bool flock = regs->orig_ax == NR_FLOCK;

	if (task->thread_info.status & TS_COMPAT || !files ||
	    !bpf_core_field_exists(inode->i_flctx))
		return;
	if (flock && command & (LOCK_NB | LOCK_UN))
		return; /* it waits for something else, such as a server of files */
	if (!flock &&
	    (regs->orig_ax != NR_FCNTL || (command != F_SETLKW && command != F_OFD_SETLKW)))
		return;
	table = files->fdt;
	if (descriptor >= table->max_fds)
		return;
	inode = (void *)inode_of(file_in(table->fd + descriptor));
	context = BPF_CORE_READ(inode, i_flctx);
	if (!context)
		return;
	lock->kind = OFFCPUD_LOCK_FILE;
	lock->owner_tid = file_locks_owner(flock ? &context->flc_flock : &context->flc_posix);
}

static __always_inline void lock_find_futex(struct offcpud_lock *lock, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!is_in_futex(task))
		return;
	if (lock->kind == OFFCPUD_LOCK_NONE)
		lock->kind = OFFCPUD_LOCK_FUTEX;
	lock->address = regs->di;
	lock->op = regs->si;
	lock->value = regs->dx;
	/* 7.2 keeps the list elsewhere: there no holder of a robust mutex is found. */
	if (bpf_core_field_exists(task->robust_list))
		lock->robust_list = (__u64)task->robust_list;
}

/* Describes the lock that a blocked thread waits for. */
SUBPROGRAM int lock_find(struct offcpud_lock *lock, struct task_struct *task)
{
	__builtin_memset(lock, 0, sizeof(*lock));
	if (!read_files)
		return 0;
	lock_find_pi(lock, task);
	if (lock->kind == OFFCPUD_LOCK_NONE)
		lock_find_kernel(lock, task);
	if (is_kernel_thread(task) || (lock->kind && lock->kind != OFFCPUD_LOCK_PI))
		return 0;
	lock_find_futex(lock, task);
	if (lock->kind == OFFCPUD_LOCK_NONE)
		lock_find_file(lock, task);
	return 0;
}

#endif
