/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One program per histogram store considered in docs/decisions/0001-histogram-store.md. Each adds
 * the same events: a slot and the sum of one histogram, and the running counter of the subject.
 */
#include "store_bench.h"

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

#include "offcpud.h"

char LICENSE[] SEC("license") = "GPL";

#define SUBJECTS 2
#define SHARDS 2
#define KIND OFFCPUD_BLOCKED_PIPE

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, SUBJECTS* SHARDS);
  __type(key, __u32);
  __type(value, struct offcpud_subject);
} subjects SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SUBJECTS);
  __type(key, __u32);
  __type(value, struct offcpud_subject);
} percpu_subjects SEC(".maps");

struct narrow_hist {
  __u64 sum_ns;
  __u32 slots[OFFCPUD_SLOTS];
};

struct narrow_subject {
  __u64 running_ns;
  __u64 reserved[7];
  struct narrow_hist hists[OFFCPUD_HIST_KINDS];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, SUBJECTS* SHARDS);
  __type(key, __u32);
  __type(value, struct narrow_subject);
} narrow_subjects SEC(".maps");

struct hist_key {
  __u64 cgroup_id;
  __u64 kind;
};

struct hashed_hist {
  __u64 running_ns;
  struct offcpud_hist hist;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct hist_key);
  __type(value, struct hashed_hist);
} hashed_hists SEC(".maps");

#define DELTAS 16
struct thread_deltas {
  __u64 running_ns;
  __u64 sum_ns;
  __u32 pending;
  __u32 reserved;
  __u8 slots[DELTAS];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_deltas);
} deltas SEC(".maps");

struct loop {
  __u32 pause;
  __u32 subject;
  __u64 sink;
};

/* Waits of 1 to 35 us, in a cycle that the branch predictor learns: its misses would hide the cost
 * of what follows. */
static __always_inline __u64 wait_ns(__u32 event) {
  return 1000 + 4900 * (event & 7);
}

static long pause_step(__u32 step, __u64* sink) {
  *sink += bpf_ktime_get_ns();
  return 0;
}

static __always_inline void pause_between(struct loop* loop) {
  if (loop->pause) bpf_loop(loop->pause, pause_step, &loop->sink, 0);
}

#define ADD(target, amount) __sync_fetch_and_add(&(target), amount)
#define ADD_PLAIN(target, amount) ((target) += (amount))

/* Event of an array of subjects: where `index` says, added with `add`. */
#define SUBJECT_STORE(name, map, index, add)                         \
  static long name##_event(__u32 event, struct loop* loop) {         \
    __u64 ns = wait_ns(event);                                       \
    __u32 slot = offcpud_slot(ns), key = index;                      \
    typeof(*(map).value)* subject = bpf_map_lookup_elem(&map, &key); \
                                                                     \
    if (!subject || slot >= OFFCPUD_SLOTS) return 1;                 \
    add(subject->running_ns, ns);                                    \
    add(subject->hists[KIND].slots[slot], 1);                        \
    add(subject->hists[KIND].sum_ns, ns);                            \
    pause_between(loop);                                             \
    return 0;                                                        \
  }                                                                  \
  BENCH(name)

#define BENCH(name)                                                                     \
  SEC("syscall")                                                                        \
  int name(struct store_bench_run* run) {                                               \
    struct loop loop = {.pause = run->pause, .subject = run->subject & (SUBJECTS - 1)}; \
    __u64 begin = bpf_ktime_get_ns();                                                   \
                                                                                        \
    bpf_loop(run->events, name##_event, &loop, 0);                                      \
    run->ns = bpf_ktime_get_ns() - begin;                                               \
    return 0;                                                                           \
  }

/* The cost of the bench itself: the loop, the wait and its slot, but nothing is added. */
static long nothing_event(__u32 event, struct loop* loop) {
  __u64 ns = wait_ns(event);

  loop->sink += offcpud_slot(ns);
  pause_between(loop);
  return 0;
}
BENCH(nothing)

SUBJECT_STORE(shared, subjects, loop->subject* SHARDS, ADD)
SUBJECT_STORE(sharded, subjects,
              loop->subject* SHARDS + (bpf_get_smp_processor_id() & (SHARDS - 1)), ADD)
SUBJECT_STORE(sharded_u32, narrow_subjects,
              loop->subject* SHARDS + (bpf_get_smp_processor_id() & (SHARDS - 1)), ADD)
SUBJECT_STORE(percpu, percpu_subjects, loop->subject, ADD_PLAIN)

/* As nothing, with the look-up of task storage that `deltas` needs and offcpud does anyway. */
static long storage_event(__u32 event, struct loop* loop) {
  struct thread_deltas* thread =
      bpf_task_storage_get(&deltas, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

  if (thread) loop->sink += thread->pending;
  return nothing_event(event, loop);
}
BENCH(storage)

static long thread_deltas_event(__u32 event, struct loop* loop) {
  __u64 ns = wait_ns(event);
  __u32 slot = offcpud_slot(ns), key = loop->subject * SHARDS;
  struct offcpud_subject* subject;
  struct thread_deltas* thread =
      bpf_task_storage_get(&deltas, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

  if (!thread) return 1;
  thread->running_ns += ns;
  thread->sum_ns += ns;
  thread->slots[thread->pending++ & (DELTAS - 1)] = slot;
  if (thread->pending >= DELTAS) {
    subject = bpf_map_lookup_elem(&subjects, &key);
    if (!subject) return 1;
    ADD(subject->running_ns, thread->running_ns);
    ADD(subject->hists[KIND].sum_ns, thread->sum_ns);
    for (int i = 0; i < DELTAS; i++) {
      slot = thread->slots[i];
      if (slot < OFFCPUD_SLOTS) ADD(subject->hists[KIND].slots[slot], 1);
    }
    thread->running_ns = thread->sum_ns = thread->pending = 0;
  }
  pause_between(loop);
  return 0;
}
BENCH(thread_deltas)

static long hashed_event(__u32 event, struct loop* loop) {
  struct hist_key key = {.cgroup_id = loop->subject, .kind = KIND};
  __u64 ns = wait_ns(event);
  __u32 slot = offcpud_slot(ns);
  struct hashed_hist* hashed = bpf_map_lookup_elem(&hashed_hists, &key);

  if (!hashed || slot >= OFFCPUD_SLOTS) return 1;
  ADD(hashed->running_ns, ns);
  ADD(hashed->hist.slots[slot], 1);
  ADD(hashed->hist.sum_ns, ns);
  pause_between(loop);
  return 0;
}
BENCH(hashed)
