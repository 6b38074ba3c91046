/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The real programs, with what other CPUs do in between put where it must not do harm. Helpers and
 * atomics have other names here before the programs are included: so the programs themselves know
 * nothing of it. Each test sets what is to happen, runs one program and looks at maps.
 */
#include "atomic.bpf.h"
#include "kernel_types.h"

/* What the list of free elements answers instead of what it has; 0: what it has. */
long pop_error = 0;
long push_error = 0;
/* Whether copies between kernel buffers fail, as under lockdown. */
__u32 copies_fail = 0;
/* So many times another CPU takes a subject just before this one would. */
__u32 rivals = 0;
/* Another thread of process 1 books its first wait of this kind while this one does. */
__u32 rival_kind = 0, rival_hist = 0;

/* What a thread does with its blocks at so many memory barriers after `run_copy_past` has begun to
 * copy them; 0: nothing. */
enum { RIVAL_KEEPS = 1, RIVAL_BEGINS, RIVAL_WRITES };
__u32 rival_deed = 0, rival_barriers = 0;

static __always_inline void rival_books(void);
static __always_inline void rival_takes(void);
static __attribute__((noinline)) int rival_blocks(void);

#define bpf_map_pop_elem(map, value)                                     \
  ({                                                                     \
    long popped_ = pop_error ? pop_error : bpf_map_pop_elem(map, value); \
    rival_books();                                                       \
    popped_;                                                             \
  })
#define bpf_map_push_elem(map, value, flags) \
  (push_error ? push_error : bpf_map_push_elem(map, value, flags))
#define bpf_probe_read_kernel(to, size, from) \
  bpf_probe_read_kernel(to, size, copies_fail ? NULL : (const void*)(from))

#define real_cmpxchg(pointer, expected, value)                                                   \
  ({                                                                                             \
    typeof(*(pointer)) found_ = (expected);                                                      \
    __atomic_compare_exchange_n(pointer, &found_, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    found_;                                                                                      \
  })
#undef cmpxchg
#define cmpxchg(pointer, expected, value)   \
  ({                                        \
    rival_takes();                          \
    real_cmpxchg(pointer, expected, value); \
  })

#undef smp_rmb
#define smp_rmb()   \
  ({                \
    rival_blocks(); \
    barrier();      \
  })

#include "offcpud.bpf.c"

static __always_inline void rival_books(void) {
  struct offcpud_process* process;
  __u32 first = 1;

  if (!rival_hist) return;
  process = bpf_map_lookup_elem(&processes, &first);
  if (process && rival_kind < OFFCPUD_HIST_KINDS) process->hists[rival_kind] = rival_hist;
  rival_hist = 0;
}

static __always_inline void rival_takes(void) {
  if (!rivals) return;
  rivals--;
  atomic_add(&free_head, 1);
}

static __attribute__((noinline)) int rival_blocks(void) {
  struct thread* thread;
  __u16 oldest;

  if (!rival_barriers || --rival_barriers) return 0;
  thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
  if (!thread) return 0;
  oldest = thread->block.past & (OFFCPUD_PAST_BLOCKS - 1);
  if (rival_deed == RIVAL_KEEPS) past_push(thread);
  if (rival_deed == RIVAL_BEGINS) thread->block.began_ns++;
  if (rival_deed == RIVAL_WRITES) thread->past[oldest].length = ~0U;
  return 0;
}

/* What a run found out. */
__u64 result = 0;

/* The first wait of a kind of process 1. */
SEC("raw_tp")
int run_new_hist(void* ctx) {
  struct offcpud_process* process;
  __u32 first = 1;

  process = bpf_map_lookup_elem(&processes, &first);
  if (process) result = process_take_hist(process, OFFCPUD_BLOCKED_LOCK);
  return 0;
}

/* The last thread of process 1 ends. */
SEC("raw_tp")
int run_leave_process(void* ctx) {
  struct thread* thread = thread_of(bpf_get_current_task_btf());

  if (!thread) return 0;
  thread->owner.process = 1;
  process_leave(thread);
  return 0;
}

/* The current thread, of which nobody knows so far, joins its process. */
SEC("raw_tp")
int run_join(void* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread* thread = thread_of(task);

  if (!thread) return 0;
  process_join(task, thread, false);
  result = thread->owner.process;
  return 0;
}

__u64 cgroup_id = 0;

SEC("raw_tp")
int run_take_subject(void* ctx) {
  result = subject_of_cgroup(cgroup_id);
  return 0;
}

__u64 begun_ns = 0, ended_ns = 0;

/* A stretch of running time and a wait for the CPU, both that long, charged to subject 0. */
SEC("raw_tp")
int run_charge(void* ctx) {
  struct thread* thread = thread_of(bpf_get_current_task_btf());
  struct account account = {};
  __u32 first = 0;

  account.subject = bpf_map_lookup_elem(&subjects, &first);
  if (!thread || !account.subject) return 0;
  account_running(account.subject, thread, begun_ns, ended_ns);
  result = account_wait(account, thread, OFFCPUD_RUNQ_WAKEUP, ended_ns - begun_ns);
  return 0;
}

__u32 most_frames = 0;
__u32 frames = 0, end = 0;

/* Walks the stack of whoever runs this. */
SEC("raw_tp")
int run_walk(void* ctx) {
  struct offcpud_unwind_stack* stack = unwind_user(0, most_frames, 0, 0);

  result = !!stack;
  if (!stack) return 0;
  frames = stack->frames;
  end = stack->end;
  unwind_release();
  return 0;
}

__u32 paused_tid = 0, locked = 0;
__u64 paused_since_ns = 0;

/* Before run_walk, on the same CPU: a walk is under way there. */
SEC("raw_tp")
int run_leave_walk(void* ctx) {
  struct unwind_walk* walk = unwind_walk_here();

  if (!walk) return 0;
  walk->locked = locked;
  walk->paused = paused_tid;
  walk->episode = paused_since_ns;
  return 0;
}

/* The current thread wakes another one, whose block has been chosen. */
SEC("raw_tp")
int run_describe_waker(void* ctx) {
  struct thread* thread = thread_of(bpf_get_current_task_btf());
  __u32 zero = 0;
  struct chosen* chosen = bpf_map_lookup_elem(&choosing, &zero);

  if (!thread || !chosen) return 0;
  thread->waking.waker = OFFCPUD_FROM_SAME_CGROUP + 1;
  thread->waking.waker_tid = bpf_get_current_task_btf()->pid;
  sample_describe_waker(ctx, chosen, thread);
  frames = chosen->sample.waker_user_frames;
  return 0;
}

/* The user stack of a sample, copied to where the sample is put together. */
SEC("raw_tp")
int run_append(void* ctx) {
  __u32 zero = 0;
  struct sampling* room = bpf_map_lookup_elem(&sampling, &zero);

  if (!room) return 0;
  frames = stack_append_user(unwind_user(0, OFFCPUD_UNWIND_FRAMES, 0, 0), room->record.frames, 0,
                             OFFCPUD_STACK_FRAMES, &end);
  return 0;
}

__u32 censored = 0;
__u64 part_ns = 0, whole_ns = 0;

/* A chosen block of the current thread ends. Walks have counted all but `part_ns` of it. */
SEC("raw_tp")
int run_keep_block(void* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread* thread = thread_of(task);

  if (!thread) return 0;
  thread->state = censored ? THREAD_FOUND_WAITING : THREAD_BLOCKED;
  thread->since_ns = thread->found.ns = begun_ns;
  thread->waking.ns = ended_ns;
  return block_keep(ctx, task, thread, part_ns, whole_ns);
}

/* It takes no stacks before the thread's next block. */
SEC("raw_tp")
int run_drop_block(void* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread* thread = thread_of(task);

  return thread ? block_drop(task, thread) : 0;
}

/* The thread to act on, which sleeps; and what is found about it afterwards. */
__u32 sleeper = 0;
__u32 found_idle = 0, found_task_state = 0, found_state = 0;

/* The walk has found a thread without a state; its switch-out comes before the walk's answer. */
SEC("iter/task")
int run_seed(struct bpf_iter__task* ctx) {
  struct task_struct* task = CHECKED(ctx->task);
  struct thread* thread;

  if (!task || task->pid != sleeper) return 0;
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) return 0;
  thread->state = THREAD_BLOCKED;
  thread->block.idle = 1;
  thread->block.task_state = TASK_TRACED;
  thread_set_found(task, thread, bpf_ktime_get_ns());
  found_idle = thread->block.idle;
  found_task_state = thread->block.task_state;
  found_state = thread->state;
  return 0;
}

/* A thread is woken as it is about to sleep, runs on, blocks some microseconds later, and takes a
 * CPU again without its waking having been seen. */
SEC("iter/task")
int run_missed_wakeup(struct bpf_iter__task* ctx) {
  struct task_struct* task = CHECKED(ctx->task);
  __u64 now = bpf_ktime_get_ns();
  struct thread* thread;

  if (!task || task->pid != sleeper) return 0;
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) return 0;
  thread_begin_first(thread, THREAD_RUNNING, now - 20000);
  thread->waking.waker = OFFCPUD_FROM_SAME_CGROUP + 1;
  thread->waking.ns = now - 10000;
  block_begin(task, thread, TASK_INTERRUPTIBLE, now);
  result = thread_end_odd_wait(task, thread, 0, now + 50000000);
  return 0;
}

/* The thread's state; when its last block began (0: none has) and ended, when it was woken, and
 * when its first state began that was seen to, all since the thread's start; and whether a walk had
 * found it blocked. */
__u32 awake_state = 0, found_blocked = 0;
__u64 block_began_ns = 0, block_ended_ns = 0, woken_ns = 0, born_ns = 0;

/* Since when it has not been blocked, since its start; 0: unknown. */
SEC("iter/task")
int run_awake_since(struct bpf_iter__task* ctx) {
  struct task_struct* task = CHECKED(ctx->task);
  struct thread* thread;
  __u64 start_ns;

  if (!task || task->pid != sleeper) return 0;
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) return 0;
  start_ns = task->start_time;
  thread->state = awake_state;
  thread->block.began_ns = block_began_ns ? start_ns + block_began_ns : 0;
  thread->block.ended_ns = block_ended_ns ? start_ns + block_ended_ns : 0;
  thread->waking.ns = start_ns + woken_ns;
  thread->sums.born_ns = born_ns ? start_ns + born_ns : 0;
  thread->found.ns = found_blocked ? start_ns + 1 : 0;
  thread->found.kind = OFFCPUD_BLOCKED_LOCK;
  result = awake_since(task, thread);
  if (result) result -= start_ns;
  return 0;
}

__u64 copied[sizeof(struct offcpud_past) / sizeof(__u64)] = {};
/* How far the current thread is with the switch-out before its next block: it has kept the last
 * one, or has begun the next one, too. */
__u32 keeps = 0, begins = 0;
/* Its state, and since when. */
__u32 past_state = 0;
__u64 past_since_ns = 0;
/* How long its last block was; 0: 100 us. */
__u64 last_ns = 0;

/* The current thread's blocks are copied as those of another one, which runs: four kept ones, that
 * end at 1, 2, 3 and 4 ms, and the last, which ends at 5 ms after short ones of 1 ms in all; each
 * is 100 us long, or the last one last_ns. It has waited for a CPU for 1 ms before the last one,
 * and for 6 ms by now. Returns how long the short ones are afterwards. */
SEC("raw_tp")
int run_copy_past(void* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread* thread = thread_of(task);

  if (!thread) return 0;
  for (__u64 i = 0; i < OFFCPUD_PAST_BLOCKS; i++) {
    thread->past[i].ended_ns = (i + 1) * 1000000;
    thread->past[i].length = past_units(100000);
    thread->past[i].queued = 0;
  }
  thread->state = past_state;
  thread->since_ns = past_since_ns;
  thread->queued = past_units(1000000);
  thread->sums.waits_ns[OFFCPUD_RUNQ_WAKEUP] = 1000000;
  thread->sums.waits_ns[OFFCPUD_RUNQ_PREEMPTED] = 2000000;
  thread->sums.waits_ns[OFFCPUD_RUNQ_THROTTLED] = 3000000;
  thread->block.past = 0;
  thread->block.began_ns = 5000000 - (last_ns ?: 100000);
  thread->block.ended_ns = 5000000;
  thread->block.skipped_ns = 1000000;
  if (keeps) past_push(thread);
  if (begins) block_begin(task, thread, TASK_INTERRUPTIBLE, 6000000);
  __builtin_memset(copied, 0, sizeof(copied));
  past_of_other((struct offcpud_past*)copied, task);
  result = thread->block.skipped_ns;
  return 0;
}

__u64 own_socket[sizeof(struct offcpud_socket) / sizeof(__u64)] = {};
__u64 other_socket[sizeof(struct offcpud_socket) / sizeof(__u64)] = {};

/* Whether a call for the one socket makes its process the peer of a wait for the other. */
SEC("raw_tp")
int run_other_end(void* ctx) {
  result = socket_is_other_end((const struct offcpud_socket*)own_socket,
                               (const struct offcpud_socket*)other_socket);
  return 0;
}

__u32 sleeper_state = 0;

/* Whether a signal is what wakes the thread, if it sleeps in that state. */
SEC("iter/task")
int run_is_signalled(struct bpf_iter__task* ctx) {
  struct task_struct* task = CHECKED(ctx->task);

  if (task && task->pid == sleeper) result = is_signalled(task, sleeper_state);
  return 0;
}

/* What a thread that waits for a page or a block has on its stack, the entry of a wait queue being
 * FAKE_ENTRY words behind the beginning; and the memory to which this leads. */
#define FAKE_WORDS 128
#define FAKE_ENTRY 8
__u64 fake_stack[FAKE_WORDS] = {}, fake_queue[FAKE_WORDS] = {};
__u64 fake_page[FAKE_WORDS] = {}, fake_mapping[FAKE_WORDS] = {}, fake_inode[FAKE_WORDS] = {};
__u64 fake_block[FAKE_WORDS] = {}, fake_device[FAKE_WORDS] = {};
__u64 fake_disk[FAKE_WORDS] = {}, fake_part[FAKE_WORDS] = {};
/* The function that wakes the thread, and whether the entry has left its queue. */
__u64 fake_waker = 0;
__u32 fake_woken = 0;
/* What is added to the address of the page's mapping, and to that of the file's. */
__u8 page_flags = 0, other_mapping = 0;
/* The bit of the block, and what is added to the address of the disk of the disk's first part. */
__u32 block_bit = 0;
__u8 other_disk = 0;
__u32 found_device = 0;

#define FAKE(words, offset) (*(__u64*)((void*)(words) + (offset)))
#define FAKE_FIELD(words, type, field) FAKE(words, bpf_core_field_offset(type, field))
#define FAKE_STACK(type, wait, field) \
  FAKE(fake_stack + FAKE_ENTRY,       \
       (__s64)bpf_core_field_offset(type, field) - (__s64)bpf_core_field_offset(type, wait))

static __always_inline void fake_wait(struct page_search* search) {
  __u64 entry = (__u64)(fake_stack + FAKE_ENTRY);
  __u64 link = entry + bpf_core_field_offset(struct wait_queue_entry___waited, entry);

  FAKE_FIELD(fake_stack + FAKE_ENTRY, struct wait_queue_entry___waited, func) = fake_waker;
  FAKE_FIELD(fake_stack + FAKE_ENTRY, struct wait_queue_entry___waited, entry.next) =
      fake_woken ? link : (__u64)fake_queue;
  FAKE_FIELD(fake_stack + FAKE_ENTRY, struct wait_queue_entry___waited, entry.prev) =
      fake_woken ? link : (__u64)fake_queue;
  FAKE_FIELD(fake_queue, struct list_head___waited, prev) = link;
  FAKE_FIELD(fake_page, struct folio___page, mapping) = (__u64)fake_mapping + page_flags;
  FAKE_FIELD(fake_mapping, struct address_space___page, host) = (__u64)fake_inode;
  FAKE_FIELD(fake_inode, struct inode___page, i_mapping) = (__u64)fake_mapping + other_mapping;
  FAKE_FIELD(fake_block, struct buffer_head___page, b_bdev) = (__u64)fake_device;
  FAKE_FIELD(fake_device, struct block_device___page, bd_disk) = (__u64)fake_disk;
  *(__u32*)&FAKE_FIELD(fake_device, struct block_device___page, bd_dev) = 8 << 20;
  FAKE_FIELD(fake_disk, struct gendisk___page, part0) = (__u64)fake_part;
  FAKE_FIELD(fake_part, struct block_device___page, bd_disk) = (__u64)fake_disk + other_disk;
  page_is_waited_for(search,
                     entry + bpf_core_field_offset(struct wait_queue_entry___waited, private));
}

/* Whether the file of the page is found. */
SEC("raw_tp")
int run_page_search(void* ctx) {
  struct page_search search = {};

  FAKE_STACK(struct wait_page_queue, wait, folio) = (__u64)fake_page;
  fake_wait(&search);
  result = search.inode && search.inode == (__u64)fake_inode;
  return 0;
}

/* The device of the block. */
SEC("raw_tp")
int run_block_search(void* ctx) {
  struct page_search search = {};

  FAKE_STACK(struct wait_bit_queue_entry, wq_entry, key.flags) = (__u64)fake_block;
  *(__u32*)&FAKE_STACK(struct wait_bit_queue_entry, wq_entry, key.bit_nr) = block_bit;
  fake_wait(&search);
  found_device = search.device;
  return 0;
}
