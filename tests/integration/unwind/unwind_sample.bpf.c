/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks the stack of the threads of one process whenever one comes back to a CPU, or leaves it
 * where the kernel does not tell the former. */
#include "unwind_sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>

#include "kernel_types.h"
#include "unwind.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__u32 target_tgid = 0; /* 0: nobody; the idle tasks have it too */
__u64 lost = 0;        /* samples that found no room */

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} samples SEC(".maps");

static __always_inline int sample(void) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct unwind_probe_sample* told;
  struct offcpud_unwind_stack* stack;
  __u64 begin, end;

  if (!target_tgid || task->tgid != target_tgid) return 0;
  begin = bpf_ktime_get_ns();
  stack = unwind_user(task->tgid, OFFCPUD_UNWIND_FRAMES, 0, 0);
  end = bpf_ktime_get_ns();
  if (!stack) return 0;
  told = bpf_ringbuf_reserve(&samples, sizeof(*told), 0);
  if (told) {
    told->tgid = task->tgid;
    told->tid = task->pid;
    told->walk_ns = end - begin;
    bpf_probe_read_kernel(&told->stack, sizeof(told->stack), stack);
    /* A wakeup here would preempt the thread, whose return would be the next sample. */
    bpf_ringbuf_submit(told, BPF_RB_NO_WAKEUP);
  } else {
    __sync_fetch_and_add(&lost, 1);
  }
  unwind_release();
  return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_sched_exit, bool is_switch) {
  return is_switch ? sample() : 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(void* ctx) {
  return sample();
}
