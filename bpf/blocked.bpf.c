/* SPDX-License-Identifier: GPL-2.0-only */
/* Two iterators over blocked threads. walk_blocked reports the blocks in progress of all threads,
 * and counts them in parts. look_blocked reports those of one process, and counts nothing. */
#include "lock.bpf.h"
#include "sample.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpud_blocked_record);
} blocked_records SEC(".maps");

static __always_inline bool block_count_until(struct thread *thread, __u64 counted_ns, __u64 now)
{
	return cmpxchg(&thread->block.counted_ns, counted_ns, now) == counted_ns;
}

static __always_inline bool is_sampled_kind(__u32 kind)
{
	return kind < OFFCPUD_BLOCKED_KINDS && has_kind(sample_kinds, kind);
}

static __always_inline bool is_old_enough(__u64 now, __u64 since_ns, bool young)
{
	if ((__s64)(now - since_ns) < 0 || (young && !walk_young))
		return false;
	return now - since_ns >= sample_min_ns && sample_max_ns == OFFCPUD_SAMPLE_NO_MAXIMUM;
}

/* The block that a thread is in. */
struct block_now {
	__u64 since_ns; /* when it began; if a walk found it, when that was */
	__u64 began_ns; /* thread.since_ns: differs once another state has begun */
	__u32 state, kind, task_state;
};

/* Reads the block that the thread is in. False: it is not blocked, or has been woken. */
static __always_inline bool block_read(struct block_now *block, struct task_struct *task,
				       struct thread *thread)
{
	block->state = smp_load_acquire(&thread->state); /* pairs with thread_begin() */
	block->kind = READ_ONCE(thread->kind);
	block->task_state = READ_ONCE(thread->block.task_state);
	block->since_ns = block->began_ns = READ_ONCE(thread->since_ns);
	if (block->state != THREAD_FOUND_WAITING)
		return block->state == THREAD_BLOCKED && !thread_is_awake(task, thread);
	block->since_ns = thread->found.ns;
	block->kind = thread->found.kind;
	block->task_state = thread->found.task_state;
	return true;
}

/*
 * Counts the part of a block in progress that no sample and no earlier walk has counted. Returns
 * its length; 0: there is none to report.
 *
 * Whoever ends the block exchanges counted_ns before deciding what is left, so the exchange here
 * fails where the end came first. A thread that slept before its first event counts from when a
 * walk found it. While a longest block is set (sample_max_ns), a block in progress is never
 * counted: it may still exceed the maximum. If it does not, it is counted whole when it ends.
 */
static __always_inline __u64 block_count_part(struct task_struct *task, struct thread *thread,
					      struct offcpud_sample *sample, __u64 now)
{
	struct block_now block;
	__u64 counted_ns;
	bool young;

	if (!block_read(&block, task, thread))
		return 0;
	counted_ns = READ_ONCE(thread->block.counted_ns);
	/* Twice the age, so that whoever ends the block finds it old enough, too. */
	young = now - block.since_ns < 2 * OFFCPUD_IN_PROGRESS_AGE_NS;
	sample->since_ns = block.since_ns;
	sample->asleep_ns =
		block.state == THREAD_FOUND_WAITING ? READ_ONCE(thread->found.asleep_ns) : 0;
	sample->kind = block.kind;
	if (!is_sampled_kind(block.kind) || !is_old_enough(now, block.since_ns, young) ||
	    counted_ns == COUNTED_WHOLE || !task_is_wanted(task, block.task_state))
		return 0;
	sample_describe_waiter(sample, task, block.task_state);
	if (block.state == THREAD_FOUND_WAITING)
		sample->flags |= OFFCPUD_SAMPLE_CENSORED;
	if (young) {
		sample->flags |= OFFCPUD_SAMPLE_YOUNG;
		counted_ns = 0;
	} else if (!block_count_until(thread, counted_ns, now)) {
		return 0;
	}
	/* If it is another block by now, the exchange wrote a time before its beginning, which has
	 * no effect. */
	smp_rmb();
	if (READ_ONCE(thread->state) != block.state ||
	    READ_ONCE(thread->since_ns) != block.began_ns)
		return 0;
	return now - (counted_ns > block.since_ns ? counted_ns : block.since_ns);
}

/* Describes where the thread's user stack begins. The daemon walks it. */
static __always_inline void record_describe_user(struct offcpud_blocked_record *record,
						 struct task_struct *task)
{
	struct pt_regs___unwind *regs = (void *)bpf_task_pt_regs(task);

	record->sample.user_frames = 0;
	record->sample.user_end = OFFCPUD_UNWIND_END_NO_USER;
	record->thread_pointer = 0;
	if (is_kernel_thread(task))
		return;
	if (regs->cs == USER32_CS) {
		record->sample.user_end = OFFCPUD_UNWIND_END_COMPAT;
		return;
	}
	record->sample.user_end = OFFCPUD_UNWIND_END_READ;
	record->sample.flags |= OFFCPUD_SAMPLE_STACK_LATER;
	record->regs.ip = regs->ip;
	record->regs.sp = regs->sp;
	record->regs.bp = regs->bp;
	record->regs.di = regs->di;
	record->thread_pointer = task->thread.fsbase;
}

static __always_inline void record_describe_stack(struct offcpud_blocked_record *record,
						  struct task_struct *task)
{
	record->sample.kernel_frames = frames_of(
		bpf_get_task_stack(task, record->kernel, OFFCPUD_STACK_FRAMES * sizeof(__u64), 0));
	record_describe_user(record, task);
}

SEC("iter/task")
int walk_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct offcpud_blocked_record *record;
	__u64 now = bpf_ktime_get_ns(), ns;
	struct thread *thread;
	__u32 zero = 0;

	if (!task || !task->pid || !READ_ONCE(attached))
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	record = bpf_map_lookup_elem(&blocked_records, &zero);
	if (!thread || !record)
		return 0;
	ns = block_count_part(task, thread, &record->sample, now);
	if (!ns)
		return 0;
	record->sample.ns = record->sample.weight_ns = ns;
	record->sample.whole_ns = 0;
	record->sample.ended_ns = now;
	record->sample.waker = OFFCPUD_WAKERS;
	record->sample.waker_tid = record->sample.waker_tgid = 0;
	record->sample.waker_local_tgid = 0;
	record->sample.waker_kernel_frames = record->sample.waker_user_frames = 0;
	record->sample.waker_comm[0] = 0;
	record->sample.flags |= OFFCPUD_SAMPLE_IN_PROGRESS;
	record->sample.waited_on = waited_on_in_walk(
		task, record->sample.kind, record->sample.since_ns, ctx->meta->session_id);
	record->sample.holder_tgid = waited_holder(record->sample.waited_on);
	__builtin_memset(&record->peer, 0, sizeof(record->peer));
	peer_find_page(&record->peer, task, record->sample.kind);
	peer_find(&record->peer, task, record->sample.kind, WAITED_IN_WALK);
	peer_set_holder(&record->peer);
	peer_find_fuse(&record->peer, task, record->sample.kind);
	lock_find(&record->lock, task);
	if (record->lock.kind == OFFCPUD_LOCK_MUTEX || record->lock.kind == OFFCPUD_LOCK_RWSEM)
		record->sample.waited_on |= OFFCPUD_ON_LOCK;
	record_describe_stack(record, task);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}

/*
 * Reports the blocks in progress of one process, and counts nothing. The daemon attaches it for
 * that process. It reads the beginning of a block before the registers. So if a later look finds
 * the same beginning, the thread has not run since the earlier one.
 */
SEC("iter/task")
int look_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = CHECKED(ctx->task);
	struct offcpud_blocked_record *record;
	struct block_now block;
	struct thread *thread;
	__u32 zero = 0;

	if (!task || !task->pid || !READ_ONCE(attached))
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	record = bpf_map_lookup_elem(&blocked_records, &zero);
	if (!thread || !record || !block_read(&block, task, thread))
		return 0;
	smp_rmb();
	__builtin_memset(&record->sample, 0, sizeof(record->sample));
	sample_describe_waiter(&record->sample, task, 0);
	record->sample.flags |= OFFCPUD_SAMPLE_IN_PROGRESS;
	record->sample.kind = block.kind;
	record->sample.since_ns = block.since_ns;
	record->sample.ended_ns = bpf_ktime_get_ns();
	record->sample.waker = OFFCPUD_WAKERS;
	record_describe_user(record, task);
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
	return 0;
}
