/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks the user stack of the current thread by the tables of unwind.h:
 *
 *	struct offcpud_unwind_stack *stack = unwind_user(tgid, frames, pauses, episode);
 *	if (stack) {
 *		... use stack->addresses[0 .. stack->frames - 1] and stack->end ...
 *		unwind_release();
 *	}
 *
 * For programs that run in the thread or in an interrupt of it: there, reading its memory does not
 * sleep. Costs about 0.2 us for each frame. Not for sleepable programs, which may not use a trie.
 *
 * With interrupts off, bpf_find_vma works once: an interrupt that follows (irq_work) releases the
 * lock of the address space, and until then the answer is EBUSY. So a program in an interrupt may
 * let a walk pause: if unwind_is_paused(), it asks for one more interrupt and calls unwind_user()
 * again in that one. PREEMPT_RT never allows bpf_find_vma with interrupts off, so walks do not
 * pause there.
 */
#ifndef OFFCPUD_UNWIND_BPF_H
#define OFFCPUD_UNWIND_BPF_H

#include "atomic.bpf.h"
#include "checked.bpf.h"
#include "kernel.bpf.h"
#include "unwind_file.bpf.h"
#include "unwind_maps.bpf.h"

/* The registers of a thread in user space that kernel_types.h does not have. */
struct pt_regs___unwind {
	unsigned long bp, di, ip, cs, sp;
} __attribute__((preserve_access_index));

#define PLT_ENTRY_MASK 15   /* an entry of a PLT has 16 bytes */
#define USER32_CS      0x23 /* arch/x86/include/asm/segment.h: __USER32_CS */

/* The value of an rbp that is not known. Not 0, which programs have in rbp at their outermost
 * frame; it is not aligned, and nothing is mapped there. */
#define LOST_BP 1

/* Indices are masked for the verifier. */
#define UNWIND_DEPTH_MASK OFFCPUD_UNWIND_FRAMES
#define UNWIND_ROW_MASK	  (OFFCPUD_UNWIND_CHUNK_ROWS - 1)
#define UNWIND_PAGE_MASK  ((1U << OFFCPUD_UNWIND_PAGE_SHIFT) - 1)
OFFCPUD_ASSERT((OFFCPUD_UNWIND_FRAMES & (OFFCPUD_UNWIND_FRAMES + 1)) == 0, "a mask");
OFFCPUD_ASSERT((OFFCPUD_UNWIND_CHUNK_ROWS & UNWIND_ROW_MASK) == 0, "a power of two");

/* What the callback of bpf_loop returns. */
#define WALK_ON	   0
#define WALK_STOPS 1

static __always_inline struct unwind_walk *unwind_walk_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&unwind_walks, &zero);
}

static __always_inline int unwind_stop(struct unwind_walk *walk, __u32 end)
{
	walk->stack.end = end;
	return WALK_STOPS;
}

static __always_inline bool read_word(__u64 *word, __u64 address)
{
	return bpf_probe_read_user(word, sizeof(*word), (void *)address) == 0;
}

static __always_inline struct offcpud_unwind_mapping *mapping_at(struct unwind_walk *walk,
								 __u64 address)
{
	struct offcpud_unwind_mapping_key key = {
		.prefix_bits = OFFCPUD_UNWIND_KEY_BITS,
		.tgid = walk->tgid,
		.address = __builtin_bswap64(address),
	};

	return bpf_map_lookup_elem(&unwind_mappings, &key);
}

/* Sets the frame's mapping to what the kernel maps at an address of the current thread. */
static long take_area(struct task_struct *task, struct vm_area_struct *area, void *unused)
{
	struct unwind_walk *walk = unwind_walk_here();
	struct offcpud_unwind_file *file;
	__u64 offset;

	if (!walk)
		return 0;
	walk->mapping.begin = area->vm_start;
	walk->mapping.end = area->vm_end;
	walk->mapping.object = OFFCPUD_UNWIND_NO_OBJECT;
	if (!area->vm_file)
		return 0;
	file = mapped_file(area->vm_file);
	if (!file)
		return 0;
	offset = area->vm_pgoff << unwind_page_shift;
	for (int i = 0; i < OFFCPUD_UNWIND_SEGMENTS; i++) {
		if (i >= file->segments || offset - file->segment[i].first >= file->segment[i].size)
			continue;
		walk->mapping.object = file->object;
		walk->mapping.bias = walk->mapping.begin -
				     (file->segment[i].address + offset - file->segment[i].first);
		break;
	}
	return 0;
}

/* Finds the mapping of an address, mostly the same as that of the frame before. Asks the kernel,
 * where this is possible, until the daemon has learnt of a new process. */
static __always_inline bool find_mapping(struct unwind_walk *walk, __u64 pc)
{
	struct offcpud_unwind_mapping *mapping;
	long error;

	if (pc >= walk->mapping.begin && pc < walk->mapping.end)
		return true;
	mapping = mapping_at(walk, pc);
	if (mapping) {
		walk->mapping = *mapping;
		return true;
	}
	error = bpf_find_vma(bpf_get_current_task_btf(), pc, take_area, NULL, 0);
	walk->busy = error == -EBUSY && !is_preempt_rt();
	return !error && pc >= walk->mapping.begin && pc < walk->mapping.end;
}

/* The last of a page's rows that begin at or below `low`. */
static __always_inline __u32 find_row(struct offcpud_unwind_chunk *chunk,
				      struct offcpud_unwind_page *page, __u32 low)
{
	__u32 first = page->first, rows = page->rows;

	for (int step = 0; step <= OFFCPUD_UNWIND_PAGE_SHIFT; step++) {
		__u32 half = rows >> 1;
		__u32 probe = (first + half) & UNWIND_ROW_MASK;

		if (!half)
			break;
		if (chunk->rows[probe].address <= low)
			first = probe;
		rows -= half;
	}
	return first & UNWIND_ROW_MASK;
}

/* The index of the rule for the frame. Not inlined, to keep the callback small. */
SUBPROGRAM __u32 find_rule_index(struct unwind_walk *walk)
{
	struct offcpud_unwind_page_key key;
	struct offcpud_unwind_page *page;
	struct offcpud_unwind_chunk *chunk;
	__u32 zero = 0;
	__u64 address;
	void *map;

	address = walk->ip - !walk->exact - walk->mapping.bias;
	key.object = walk->mapping.object;
	key.page = address >> OFFCPUD_UNWIND_PAGE_SHIFT;
	if (key.object == OFFCPUD_UNWIND_NO_OBJECT)
		return OFFCPUD_UNWIND_RULE_NO_FDE;
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!page)
		return OFFCPUD_UNWIND_RULE_NO_FDE;
	map = bpf_map_lookup_elem(&unwind_chunks, &page->chunk);
	if (!map)
		return OFFCPUD_UNWIND_RULE_NO_FDE;
	chunk = bpf_map_lookup_elem(map, &zero);
	if (!chunk)
		return OFFCPUD_UNWIND_RULE_NO_FDE;
	return chunk->rows[find_row(chunk, page, address & UNWIND_PAGE_MASK)].rule;
}

static __always_inline int step_to(struct unwind_walk *walk, __u64 sp, __u64 return_address)
{
	walk->sp = sp;
	walk->ip = return_address;
	walk->exact = 0;
	walk->first = 0;
	/* Some programs end their stack by a return address of 0, not by one that is undefined. */
	return return_address ? WALK_ON : unwind_stop(walk, OFFCPUD_UNWIND_END_ROOT);
}

/* Steps from the frame of a signal handler. It is a struct rt_sigframe (arch/x86) whose return
 * address is popped: a ucontext, which has a sigcontext at 40 bytes, which has rbp at 80 bytes. */
static __always_inline int step_from_signal(struct unwind_walk *walk)
{
	struct {
		__u64 bp, bx, dx, ax, cx, sp, ip;
	} saved;

	if (bpf_probe_read_user(&saved, sizeof(saved), (void *)(walk->sp + 40 + 80)))
		return unwind_stop(walk, OFFCPUD_UNWIND_END_READ);
	walk->bp = saved.bp;
	walk->sp = saved.sp;
	walk->ip = saved.ip;
	walk->exact = 1;
	walk->first = 0;
	return WALK_ON;
}

/* Steps from a function that is only a system call, as stubs of Go and of assembly are: its return
 * address is on top of the stack. */
static __always_inline bool step_from_stub(struct unwind_walk *walk)
{
	__u64 return_address = 0;
	__u16 code = 0;

	if (!walk->exact ||
	    bpf_probe_read_user(&code, sizeof(code), (void *)(walk->ip - sizeof(code))) ||
	    code != 0x050f /* syscall */ || !read_word(&return_address, walk->sp) ||
	    !mapping_at(walk, return_address - 1))
		return false;
	return step_to(walk, walk->sp + sizeof(return_address), return_address) == WALK_ON;
}

/* Whether the code, which has no table, is that to which signal handlers return: mov $15, %eax (or
 * %rax); syscall. */
static __always_inline bool is_sigreturn(struct unwind_walk *walk)
{
	__u64 code = 0;

	if (!read_word(&code, walk->ip))
		return false;
	return code == 0x0f0000000fc0c748 || (code & 0xffffffffffffff) == 0x050f0000000fb8;
}

/* Steps where no table says how, as in code that was compiled at run time: first by what else is
 * known of such frames, then by frame pointers. If they lead nowhere, the walk ends with `end`. */
SUBPROGRAM int step_without_rule(struct unwind_walk *walk, __u32 end)
{
	__u64 frame[2]; /* the caller's rbp, and the return address */
	bool is_guess;

	if (step_from_stub(walk))
		return WALK_ON;
	if (is_sigreturn(walk))
		return step_from_signal(walk);
	/* An rbp of 0 proves the root, except in the innermost frame, where rbp may hold any value,
	 * and in unknown memory, where the walk may have gone astray. */
	is_guess = walk->first || end == OFFCPUD_UNWIND_END_NO_MAPPING;
	if (walk->stack.fp_frames)
		end = OFFCPUD_UNWIND_END_FP;
	if (walk->bp == 0)
		return unwind_stop(walk, is_guess ? end : OFFCPUD_UNWIND_END_ROOT);
	/* The caller's frame lies above this one. */
	if ((walk->bp & (sizeof(walk->bp) - 1)) || walk->bp < walk->sp ||
	    bpf_probe_read_user(frame, sizeof(frame), (void *)walk->bp) || (is_guess && !frame[1]))
		return unwind_stop(walk, end);
	walk->stack.fp_frames++;
	walk->sp = walk->bp + sizeof(frame);
	walk->bp = frame[0];
	return step_to(walk, walk->sp, frame[1]);
}

static __always_inline bool follow_rbp(struct unwind_walk *walk, struct offcpud_unwind_rule *rule,
				       __u64 cfa)
{
	__u64 base = rule->rbp == OFFCPUD_UNWIND_RBP_AT_RBP ? walk->bp : cfa;
	__u64 bp = LOST_BP;

	if (rule->rbp == OFFCPUD_UNWIND_RBP_SAME)
		return true;
	if (rule->rbp != OFFCPUD_UNWIND_RBP_LOST && !read_word(&bp, base + rule->rbp_offset))
		return false;
	walk->bp = bp;
	return true;
}

/* The CFA, by the rules that have one. */
static __always_inline bool find_cfa(struct unwind_walk *walk, struct offcpud_unwind_rule *rule,
				     __u64 *cfa)
{
	__s64 offset = rule->cfa_offset;

	switch (rule->kind) {
	case OFFCPUD_UNWIND_RBP:
		*cfa = walk->bp + offset;
		return true;
	case OFFCPUD_UNWIND_PLT:
		*cfa = walk->sp + 8 + ((walk->ip & PLT_ENTRY_MASK) >= offset ? 8 : 0);
		return true;
	case OFFCPUD_UNWIND_AT_RSP:
	case OFFCPUD_UNWIND_AT_RBP:
		if (!read_word(cfa, (rule->kind == OFFCPUD_UNWIND_AT_RSP ? walk->sp : walk->bp) +
					    offset))
			return false;
		*cfa += (__s64)rule->addend;
		return true;
	default: /* RSP, RDI */
		*cfa = walk->sp + offset;
		return true;
	}
}

SUBPROGRAM int step_by_rule(struct unwind_walk *walk, struct offcpud_unwind_rule *rule)
{
	__u64 cfa = 0, return_address = 0;

	if (rule->kind == OFFCPUD_UNWIND_SIGNAL)
		return step_from_signal(walk);
	if (rule->kind == OFFCPUD_UNWIND_END)
		return unwind_stop(walk, OFFCPUD_UNWIND_END_ROOT);
	if (rule->kind == OFFCPUD_UNWIND_INVALID ||
	    (rule->kind == OFFCPUD_UNWIND_RDI && !walk->first))
		return unwind_stop(walk, OFFCPUD_UNWIND_END_INVALID);

	if (!find_cfa(walk, rule, &cfa))
		return unwind_stop(walk, OFFCPUD_UNWIND_END_READ);
	if (rule->kind == OFFCPUD_UNWIND_RDI)
		return_address = walk->di;
	else if (!read_word(&return_address, cfa - sizeof(return_address)))
		return unwind_stop(walk, OFFCPUD_UNWIND_END_READ);
	if (!follow_rbp(walk, rule, cfa))
		return unwind_stop(walk, OFFCPUD_UNWIND_END_READ);
	return step_to(walk, cfa, return_address);
}

static long unwind_step(__u32 unused_index, void *unused)
{
	struct unwind_walk *walk = unwind_walk_here();
	struct offcpud_unwind_rule *rule;
	__u32 index, depth;

	if (!walk)
		return WALK_STOPS;
	depth = walk->stack.frames;
	if (depth >= OFFCPUD_UNWIND_FRAMES)
		return WALK_STOPS;
	walk->stack.addresses[depth & UNWIND_DEPTH_MASK] = walk->ip;
	if (!find_mapping(walk, walk->ip - !walk->exact)) {
		if (walk->busy && walk->pauses_left) {
			walk->pauses_left--;
			walk->paused = bpf_get_current_task_btf()->pid;
			return WALK_STOPS;
		}
		walk->stack.frames = depth + 1;
		return step_without_rule(walk, OFFCPUD_UNWIND_END_NO_MAPPING);
	}
	walk->stack.frames = depth + 1;
	index = find_rule_index(walk);
	rule = bpf_map_lookup_elem(&unwind_rules, &index);
	if (!rule || rule->kind == OFFCPUD_UNWIND_NO_FDE)
		return step_without_rule(walk, OFFCPUD_UNWIND_END_NO_RULE);
	return step_by_rule(walk, rule);
}

static __always_inline bool unwind_begin(struct unwind_walk *walk, struct task_struct *task)
{
	struct pt_regs___unwind *regs = (void *)bpf_task_pt_regs(task);

	walk->stack.frames = 0;
	walk->stack.fp_frames = 0;
	walk->stack.end = OFFCPUD_UNWIND_END_NO_USER;
	walk->mapping.begin = walk->mapping.end = 0;
	walk->ip = regs->ip;
	walk->sp = regs->sp;
	walk->bp = regs->bp;
	walk->di = regs->di;
	walk->exact = 1;
	walk->first = 1;
	/* Workers of io_uring have the memory of a process, but never were in user space. */
	if ((task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) || !walk->ip)
		return false;
	if (regs->cs == USER32_CS) {
		walk->stack.end = OFFCPUD_UNWIND_END_COMPAT;
		walk->stack.addresses[0] = walk->ip;
		walk->stack.frames = 1;
		return false;
	}
	walk->stack.end = OFFCPUD_UNWIND_END_DEPTH;
	return true;
}

static __always_inline bool unwind_is_paused(void)
{
	struct unwind_walk *walk = unwind_walk_here();

	return walk && walk->paused;
}

static __always_inline void unwind_unlock(struct unwind_walk *walk)
{
	smp_store_release(&walk->locked, 0); /* pairs with xchg in unwind_lock() */
}

/* Whether this walk continues the one that paused on this CPU. Gives up a paused walk of another
 * thread, or of another `episode` of this thread. */
static __always_inline bool unwind_goes_on(struct unwind_walk *walk, struct task_struct *task,
					   __u64 episode)
{
	__u32 paused = walk->paused;

	walk->paused = 0;
	if (!paused)
		return false;
	if (paused == task->pid && walk->episode == episode)
		return true;
	unwind_unlock(walk);
	return false;
}

/* A pause takes some microseconds: the interrupt that it waits for follows at once. */
#define UNWIND_PAUSE_NS 10000000

/* Whether nobody will continue the walk that paused on this CPU: its thread has left the CPU, or
 * the interrupt never came. Programs in interrupts of the thread itself ask unwind_goes_on(). */
static __always_inline bool walk_is_deserted(struct unwind_walk *walk, struct task_struct *task)
{
	__u32 paused = READ_ONCE(walk->paused);

	return paused && (paused != task->pid ||
			  (__s64)(bpf_ktime_get_ns() - walk->episode) > UNWIND_PAUSE_NS);
}

static __always_inline bool unwind_lock(struct unwind_walk *walk, struct task_struct *task)
{
	if (!xchg(&walk->locked, 1))
		return true;
	if (!walk_is_deserted(walk, task))
		return false;
	walk->paused = 0;
	return true; /* takes the lock over */
}

/* Walks the stack. `tgid`: in the daemon's PID namespace. `frames`: how many at most, up to 127.
 * `pauses`: how often the walk may pause. `episode`: CLOCK_MONOTONIC when the thread took the CPU.
 * NULL: this CPU is walking a stack already, in a program that this one interrupted or in a pause.
 * Otherwise call unwind_release(), even for a walk that paused and is not continued. */
static __always_inline struct offcpud_unwind_stack *unwind_user(__u32 tgid, __u32 frames,
								__u32 pauses, __u64 episode)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct unwind_walk *walk = unwind_walk_here();

	if (!walk)
		return NULL;
	if (!pauses || !unwind_goes_on(walk, task, episode)) {
		if (!unwind_lock(walk, task))
			return NULL;
		walk->tgid = __builtin_bswap32(tgid);
		walk->pauses_left = pauses;
		walk->episode = episode;
		if (!unwind_begin(walk, task))
			return &walk->stack;
	}
	bpf_loop(frames, unwind_step, NULL, 0);
	return &walk->stack;
}

static __always_inline void unwind_release(void)
{
	struct unwind_walk *walk = unwind_walk_here();

	if (!walk)
		return;
	walk->paused = 0;
	unwind_unlock(walk);
}

#endif
