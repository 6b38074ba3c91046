/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a signal ends a block, instead of what the thread waits for. */
#ifndef OFFCPUD_SIGNALS_BPF_H
#define OFFCPUD_SIGNALS_BPF_H

#include "kernel.bpf.h"

#define SIGKILL 9

/* include/linux/sched/jobctl.h: JOBCTL_STOP_PENDING, TRAP_STOP, TRAP_NOTIFY and TRAP_FREEZE. The
 * thread is to stop with its process or for a debugger, or to freeze. The numbers are the same
 * since 5.2 (76f969e8948d). */
#define JOBCTL_STOPS (1UL << 17 | 1UL << 19 | 1UL << 20 | 1UL << 23)

/*
 * Whether a signal wakes the thread, which sleeps in this state; call it at the waking. The kernel
 * adds a signal to the pending ones before it wakes a thread for it, also when a process ends as a
 * whole (kernel/signal.c: __send_signal_locked, zap_other_threads). The same conditions make it set
 * TIF_SIGPENDING (recalc_sigpending_tsk). That flag is not read, because its number is in no type:
 * it is 2 on x86, and 1 where x86 has the generic flags (include/asm-generic/thread_info_tif.h).
 *
 * A signal that was sent to the process counts for each of its threads until one has taken it.
 */
static __always_inline bool is_signalled(struct task_struct *task, __u32 state)
{
	unsigned long pending = task->pending.signal.sig[0];

	if (!(state & TASK_INTERRUPTIBLE))
		return state & TASK_WAKEKILL && pending & 1UL << (SIGKILL - 1);
	if (task->jobctl & JOBCTL_STOPS)
		return true;
	pending |= task->signal->shared_pending.signal.sig[0];
	return pending & ~task->blocked.sig[0];
}

#endif
