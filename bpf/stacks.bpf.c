/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes the stacks of a sampled block, in an interrupt of the thread that was blocked. */
#include "cost.bpf.h"
#include "past.bpf.h"
#include "sample.bpf.h"

/* Fills the record with the chosen block and the stacks of the current thread. Returns its size. */
static __always_inline __u32 record_fill(void *ctx, struct offcpud_sample_record *record,
					 struct chosen *chosen, struct offcpud_unwind_stack *stack)
{
	struct offcpud_sample *sample = &record->sample;
	__u32 frames, waker;

	*sample = chosen->sample;
	record->peer = chosen->peer;
	past_follow(record, chosen);
	frames = frames_of(
		bpf_get_stack(ctx, record->frames, OFFCPUD_STACK_FRAMES * sizeof(__u64), 0));
	sample->kernel_frames = frames;
	sample->user_frames = stack_append_user(stack, record->frames, frames, OFFCPUD_STACK_FRAMES,
						&sample->user_end);
	frames += sample->user_frames;
	waker = sample->waker_kernel_frames + sample->waker_user_frames;
	if (bpf_probe_read_kernel(record->frames + (frames & SAMPLE_INDEX_MASK),
				  (waker & WAKER_INDEX_MASK) * sizeof(__u64), chosen->waker)) {
		waker = 0;
		sample->waker_kernel_frames = sample->waker_user_frames = 0;
	}
	return sizeof(*sample) + sizeof(record->peer) + sizeof(record->past) +
	       ((frames + waker) & SAMPLE_FRAMES_MASK) * sizeof(__u64);
}

/* Takes the stacks of the current thread, if it asked for that. */
static __noinline int stacks_take(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, tid = task->pid, size;
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct offcpud_sample_record *record = bpf_map_lookup_elem(&sampling, &zero);
	struct offcpud_unwind_stack *stack;
	struct chosen *chosen;

	if (!thread || thread->sampling.chosen != STACKS_WANTED)
		return 0; /* an interrupt for somebody else */
	stack = unwind_user(local_tid(task->group_leader), OFFCPUD_UNWIND_FRAMES,
			    OFFCPUD_UNWIND_PAUSES, thread->since_ns);
	if (stack && unwind_is_paused()) {
		if (interrupt_self())
			return 0;
		stack->end = OFFCPUD_UNWIND_END_NO_MAPPING;
	}
	thread->sampling.chosen = NOT_CHOSEN;
	chosen = bpf_map_lookup_elem(&chosen_blocks, &tid);
	if (!chosen || !record) {
		if (stack)
			unwind_release();
		return loss_add(OFFCPUD_LOSS_SAMPLE); /* cannot happen */
	}
	chosen->sample.waited_on =
		waited_on(task, chosen->sample.kind, chosen->sample.since_ns, WAITED_IN_INTERRUPT);
	peer_find_chosen(chosen, task);
	size = record_fill(ctx, record, chosen, stack);
	bpf_map_delete_elem(&chosen_blocks, &tid);
	if (size > sizeof(*record))
		size = sizeof(*record);
	/* The daemon looks several times a second: to wake it would be one more wakeup. */
	if (bpf_ringbuf_output(&samples, record, size, BPF_RB_NO_WAKEUP))
		return sample_lose(&record->sample);
	return 0;
}

/* The end of an interrupt that this CPU has sent to itself; see interrupt_self(). At its beginning
 * the next one could not be asked for. */
SEC("tp_btf/irq_work_exit")
int BPF_PROG(on_irq_work)
{
	__u64 now = bpf_ktime_get_ns();

	stacks_take(ctx);
	cost_add(OFFCPUD_PROGRAM_STACKS, now, 1);
	return 0;
}
