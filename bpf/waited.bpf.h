/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On what kinds of files a thread waits: a socket for questions of others, one for an answer, a
 * pipe, a timer. Only sampled blocks and those that a walk finds pay for it. All memory is read in
 * a way that may fail: files of other threads may go away meanwhile.
 */
#ifndef OFFCPUD_WAITED_BPF_H
#define OFFCPUD_WAITED_BPF_H

#include "reason.bpf.h"
#include "waited_file.bpf.h"

static __always_inline __u64 item_of_node(__u64 node)
{
	return node - bpf_core_field_offset(struct epitem___waited, rbn);
}

/* One step through the tree of an epoll set. A node comes before its children; the node that the
 * walk came from says what is left to do. */
static int epoll_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	__u64 links[3] = {}, parent, right, left; /* struct rb_node */
	struct epitem___waited *item;

	if (!waited || !waited->node)
		return 1;
	waited->steps++;
	if (bpf_probe_read_kernel(links, sizeof(links), (void *)waited->node)) {
		waited->on |= OFFCPUD_ON_MORE;
		waited->node = 0;
		return 1;
	}
	parent = links[0] & ~3ULL;
	right = links[1];
	left = links[2];
	if (waited->from == parent) {
		item = (void *)item_of_node(waited->node);
		waited_add(waited, BPF_CORE_READ(item, ffd.file));
		if (waited->on & OFFCPUD_ON_ASKED) {
			if (left || right || parent)
				waited->on |= OFFCPUD_ON_MORE;
			waited->node = 0;
			return 1;
		}
		waited->from = waited->node;
		waited->node = left ?: right ?: parent;
	} else if (waited->from == left && right) {
		waited->from = waited->node;
		waited->node = right;
	} else {
		waited->from = waited->node;
		waited->node = parent;
	}
	return 0;
}

/* If the wait has ended, looks at the file that became ready first, which the thread has not
 * collected yet; otherwise, at the whole set. */
static __always_inline void waited_on_epoll(struct waited *waited, struct file *file, __u32 place)
{
	struct file___waited *content = (void *)file;
	struct eventpoll___waited *epoll = BPF_CORE_READ(content, private_data);
	struct epitem___waited *item;
	__u64 list, next;

	if (!epoll || !bpf_core_field_exists(epoll->rdllist) || !bpf_core_field_exists(epoll->rbr))
		return;
	list = (__u64)epoll + bpf_core_field_offset(struct eventpoll___waited, rdllist);
	next = (__u64)BPF_CORE_READ(epoll, rdllist.next);
	if (waited->ended && next && next != list) {
		item = (void *)(next - bpf_core_field_offset(struct epitem___waited, rdllink));
		waited_add(waited, BPF_CORE_READ(item, ffd.file));
		waited->on |= OFFCPUD_ON_READY;
		return;
	}
	waited->node = (__u64)BPF_CORE_READ(epoll, rbr.rb_root.rb_node);
	waited->from = 0;
	bpf_loop(EPOLL_STEPS, epoll_step, &place, 0);
	if (waited->node)
		waited->on |= OFFCPUD_ON_MORE;
}

/* uapi/asm-generic/poll.h; select() asks for both (fs/select.c, POLLIN_SET, POLLOUT_SET). */
#define POLL_INPUT (0x0001 | 0x0040) /* POLLIN, POLLRDNORM */
#define POLL_ROOM  (0x0004 | 0x0100) /* POLLOUT, POLLWRNORM */

static int poll_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	struct poll_table_entry___waited *entry;
	__u32 asked_for;

	if (!waited || !waited->left)
		return 1;
	entry = (void *)waited->entries;
	asked_for = BPF_CORE_READ(entry, key);
	waited->for_input = asked_for & POLL_INPUT;
	waited->for_room |= asked_for & POLL_ROOM;
	waited_add(waited, BPF_CORE_READ(entry, filp));
	waited->entries += bpf_core_type_size(struct poll_table_entry___waited);
	waited->left--;
	return 0;
}

#define POLL_OFFSET(field) bpf_core_field_offset(struct poll_wqueues___waited, field)

/* Whether the table of poll() is at this address, where a word could be its polling_task. Its first
 * entry decides. If so, notes the entries, which are looked at next. */
static __always_inline bool poll_table_is(struct waited *waited, __u64 at)
{
	struct poll_wqueues___waited *table = (void *)at;
	struct poll_table_entry___waited *entry = (void *)(at + POLL_OFFSET(inline_entries));
	__u32 entries = BPF_CORE_READ(table, inline_index);

	if (!entries || entries > 64 || (__u64)BPF_CORE_READ(entry, wait.private) != at)
		return false;
	waited->entries = (__u64)entry;
	waited->left = entries;
	if (BPF_CORE_READ(table, table))
		waited->on |= OFFCPUD_ON_MORE;
	return true;
}

static int poll_search_step(__u32 index, __u32 *place)
{
	struct waited *waited = waited_at(*place);
	__u64 named_at = waited_named_at(waited, index);

	return named_at && poll_table_is(waited, named_at - POLL_OFFSET(polling_task));
}

/*
 * poll() and select() keep a table of the files on the thread's kernel stack, which does not change
 * while the thread sleeps (fs/select.c, struct poll_wqueues). The table is near the top of the
 * stack, and contains the address of the thread.
 */
static __always_inline void waited_on_poll(struct waited *waited, struct task_struct *task,
					   __u32 place)
{
	struct poll_wqueues___waited *table = NULL;

	if (!bpf_core_field_exists(table->inline_entries))
		return;
	waited->left = 0;
	waited->steps += POLL_SEARCH_STEPS;
	bpf_loop(waited_copy_stack(waited, task), poll_search_step, &place, 0);
	bpf_loop(waited->left, poll_step, &place, 0);
}

/* Whether `object` is one of several files, and may not be the one that the thread waits on. That
 * is so even of the file on which it spoke last, if it also waits for room in one: then it may not
 * wait for the answer. */
static __always_inline bool waited_is_guessed(const struct waited *waited)
{
	if (waited->on & OFFCPUD_ON_ALONE)
		return false;
	return waited->rank == WAITED_RANK_ONE ||
	       (waited->rank == WAITED_RANK_ASKED && waited->for_room);
}

/* Looks at the files on which a thread in a native system call waits. WAITED_IN_INTERRUPT: it is
 * the current one, and its wait has just ended. Returns OFFCPUD_ON_*. */
SUBPROGRAM __u32 waited_look(struct task_struct *task, __u64 since_ns, __u32 place)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long number = regs->orig_ax, descriptor = regs->di;
	struct waited *waited = waited_at(place);
	struct files_struct *files = task->files;
	struct fdtable *table;
	__u32 class;
	bool epoll;

	if (!waited || !files || number >= OFFCPUD_SYSCALLS || task->thread_info.status & TS_COMPAT)
		return 0;
	waited->since_ns = since_ns;
	waited->now = bpf_ktime_get_ns();
	waited->task = (__u64)task;
	waited->ended = place == WAITED_IN_INTERRUPT;
	waited->on = waited->files = waited->holder = 0;
	waited->first = waited->object = waited->holder_process = 0;
	waited->rank = waited->object_on = waited->for_input = waited->for_room = 0;
	waited->steps = 1;
	class = syscall_class[number];
	epoll = number == NR_EPOLL_WAIT || number == NR_EPOLL_PWAIT || number == NR_EPOLL_PWAIT2;
	table = files->fdt;
	if (!epoll && (class == OFFCPUD_CLASS_POLL || class == OFFCPUD_CLASS_RESTART))
		waited_on_poll(waited, task, place);
	else if ((__u32)descriptor >= table->max_fds)
		return 0;
	else if (epoll)
		waited_on_epoll(waited, file_in(table->fd + (__u32)descriptor), place);
	else
		waited_add(waited, file_in(table->fd + (__u32)descriptor));
	if (waited->first && !waited->files && !(waited->on & (OFFCPUD_ON_READY | OFFCPUD_ON_MORE)))
		waited->on |= OFFCPUD_ON_ALONE;
	if (waited->on & OFFCPUD_ON_READY)
		waited->rank = WAITED_RANK_READY;
	if (waited_is_guessed(waited))
		waited->object = waited->object_on = 0;
	waited->looked = 1;
	if (place == WAITED_IN_WALK && waited->on == (OFFCPUD_ON_PIPE | OFFCPUD_ON_ALONE))
		pipe_find(waited, task, place);
	return waited->on;
}

static __always_inline bool waited_can_look(struct task_struct *task, __u32 kind)
{
	bool is_for_files = kind == OFFCPUD_BLOCKED_NETWORK || kind == OFFCPUD_BLOCKED_PIPE ||
			    kind == OFFCPUD_BLOCKED_POLL;

	return read_files && is_for_files && !is_kernel_thread(task);
}

static __always_inline __u32 waited_on(struct task_struct *task, __u32 kind, __u64 since_ns,
				       __u32 place)
{
	struct waited *waited = waited_at(place);

	if (waited)
		waited->looked = 0;
	if (!waited_can_look(task, kind))
		return 0;
	return waited_look(task, since_ns, place);
}

/* The same for a thread that a walk finds. After WALK_STEPS the files of further threads remain
 * unknown, which OFFCPUD_ON_MORE says. */
static __always_inline __u32 waited_on_in_walk(struct task_struct *task, __u32 kind, __u64 since_ns,
					       __u64 session)
{
	struct waited *waited = waited_at(WAITED_IN_WALK);
	__u32 on;

	if (walk_session != session) {
		walk_session = session;
		walk_steps = 0;
	}
	if (!waited)
		return 0;
	waited->steps = 0;
	waited->looked = 0;
	if (walk_steps >= WALK_STEPS)
		return waited_can_look(task, kind) ? OFFCPUD_ON_MORE : 0;
	on = waited_on(task, kind, since_ns, WAITED_IN_WALK);
	walk_steps += waited->steps;
	return on;
}

/* A process that can write to the pipe, by the last look in a walk; 0: unknown. */
static __always_inline __u32 waited_holder(__u32 on)
{
	struct waited *waited = waited_at(WAITED_IN_WALK);

	return waited && (on & OFFCPUD_ON_PIPE) ? waited->holder : 0;
}

#endif
