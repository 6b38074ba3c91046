/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel fields that the programs read, and no others. libbpf relocates every access by the BTF
 * of the running kernel (CO-RE), so neither offsets nor the fields in between matter here. */
#ifndef OFFCPUD_KERNEL_TYPES_H
#define OFFCPUD_KERNEL_TYPES_H

#include <linux/types.h>

#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
	const char *name;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct super_block {
	unsigned long s_magic;
	__u32 s_dev;
	char s_id[32];
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	long long i_size;
	__u32 i_rdev;
	struct super_block *i_sb;
};

struct file;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct path {
	void *mnt;
	void *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct in6_addr {
	union {
		__u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
	__u16 skc_num;	  /* local port, host order */
	__be16 skc_dport; /* remote port, network order */
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	__u16 sk_type;
};

struct socket {
	struct sock *sk;
};

struct hlist_node;

struct hlist_head {
	struct hlist_node *first;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* x86: arch/x86/include/asm/ptrace.h */
struct pt_regs {
	unsigned long bx, cx, dx, si, di, bp, r8, r9, r10, orig_ax;
};

struct thread_info {
	__u32 status;
	__u32 cpu;
};

struct rq {
	__u64 clock;	  /* sched_clock() at the last update: tick or switch */
	__u64 clock_task; /* the same without the time of interrupts and stolen time */
};

typedef struct {
	long counter;
} atomic_long_t;

struct mm_struct;

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid; /* the real one */
};

struct rt_mutex_base {
	struct task_struct *owner;
};

struct rt_mutex_waiter {
	struct rt_mutex_base *lock; /* struct rt_mutex up to 5.14 */
};

struct cfs_rq {
	int throttle_count; /* this group's runtime, or that of one above it, is used up */
	struct rq *rq;	    /* of its CPU; with CONFIG_FAIR_GROUP_SCHED, as se.cfs_rq */
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	int counter;
} atomic_t;

struct qspinlock {
	atomic_t val;
};

typedef struct qspinlock arch_spinlock_t;

typedef struct raw_spinlock {
	arch_spinlock_t raw_lock;
} raw_spinlock_t;

typedef struct {
	unsigned long sig[1]; /* x86_64: all signals are in one word */
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct signal_struct {
	int nr_threads;
	struct sigpending shared_pending; /* of the process */
};

struct sched_entity {
	__u64 exec_start; /* rq->clock_task when it was last seen to run */
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
	unsigned char
		sched_delayed; /* since 6.12 (commit 152e11f6df29), with EEVDF's delayed dequeue */
};

/* x86: arch/x86/include/asm/processor.h */
struct thread_struct {
	unsigned long fsbase; /* valid while the thread does not run */
};

struct restart_block {
	void *fn; /* a function, which restart_syscall calls */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	/* u8 since 7.2, int before. Unsigned here: libbpf narrows loads of unsigned integers only
	 * (bpf_core_calc_field_relo). */
	unsigned int on_cpu;
	unsigned int on_rq;
	struct sched_entity se;
	bool throttled; /* since 6.18: dequeued by CFS bandwidth control until the next period */
	unsigned int __state;
	raw_spinlock_t pi_lock;
	int softirq_disable_cnt; /* with CONFIG_PREEMPT_RT only */
	int prio;
	int nr_cpus_allowed;
	int exit_state;
	unsigned long jobctl;
	struct restart_block restart_block;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	unsigned in_iowait : 1;
	unsigned frozen : 1; /* by the cgroup v2 freezer */
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct rt_mutex_waiter *pi_blocked_on;
	struct mm_struct *mm;
	void *robust_list; /* in user space, include/uapi/linux/futex.h */
	__u64 start_time;  /* CLOCK_MONOTONIC */
	__u64 start_boottime;
	struct cred *real_cred; /* no const: BPF_CORE_READ makes a variable of what it reads */
	char comm[16];
	struct files_struct *files;
	struct signal_struct *signal;
	sigset_t blocked;
	struct sigpending pending; /* of this thread */
	struct css_set *cgroups;
	struct thread_struct thread;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

/* Two words without a pointer; see cast_two_words(). */
struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

#pragma clang attribute pop

/* Whether the kernel has CONFIG_PREEMPT_RT: its types say so. libbpf answers before the load. */
#define is_preempt_rt() bpf_core_field_exists(((struct task_struct *)0)->softirq_disable_cnt)

/* kernel/bpf/verifier.c; its presence says that bpf_rdonly_cast exists (6.2, a35b9af4ec2c). */
enum special_kfunc_type { KF_bpf_rdonly_cast = 1 };

/* include/uapi/asm-generic/errno-base.h */
#define ENOENT 2
#define E2BIG  7
#define EBUSY  16

/* include/linux/sched.h; stable since 4.14, FREEZABLE and FROZEN since 6.1. */
#define TASK_RUNNING	     0x0000
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED	     0x0004
#define TASK_TRACED	     0x0008
#define EXIT_DEAD	     0x0010
#define EXIT_ZOMBIE	     0x0020
#define TASK_PARKED	     0x0040
#define TASK_DEAD	     0x0080
#define TASK_WAKEKILL	     0x0100
#define TASK_WAKING	     0x0200
#define TASK_NOLOAD	     0x0400 /* with UNINTERRUPTIBLE: TASK_IDLE */
#define TASK_RTLOCK_WAIT     0x1000
#define TASK_FROZEN	     0x8000
/* A sleeping state; the bits left out (WAKEKILL, NOLOAD, FREEZABLE ...) only modify one. */
#define TASK_SLEEPS                                                                                \
	(TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_STOPPED | TASK_TRACED | TASK_PARKED |    \
	 TASK_RTLOCK_WAIT | TASK_FROZEN)
#define TASK_ENDS (EXIT_DEAD | EXIT_ZOMBIE | TASK_DEAD)

#define AF_INET	 2
#define AF_INET6 10

#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000 /* since 6.4: vhost and io_uring threads of a user process */
#define PF_KTHREAD     0x00200000

#define MAX_RT_PRIO 100 /* include/linux/sched/prio.h: fair tasks have this or more */

/* include/linux/preempt.h: SOFTIRQ_OFFSET while softirqs run, not while they are only disabled. */
#define SOFTIRQ_OFFSET	 0x00000100
#define HARDIRQ_NMI_MASK 0x00ff0000

#define TS_COMPAT 0x0002 /* arch/x86/include/asm/thread_info.h: in a 32-bit system call */

#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFREG	 0100000
#define S_IFCHR	 0020000
#define S_IFBLK	 0060000
#define S_IFIFO	 0010000

/* include/uapi/linux/magic.h */
#define ANON_INODE_FS_MAGIC 0x09041934 /* eventfd, timerfd, signalfd ... */
#define PROC_SUPER_MAGIC    0x00009fa0
#define SYSFS_MAGIC	    0x62656572
#define TMPFS_MAGIC	    0x01021994
#define RAMFS_MAGIC	    0x858458f6
#define CGROUP_SUPER_MAGIC  0x0027e0eb
#define CGROUP2_SUPER_MAGIC 0x63677270
#define DEBUGFS_MAGIC	    0x64626720
#define TRACEFS_MAGIC	    0x74726163
#define SECURITYFS_MAGIC    0x73636673

#endif
