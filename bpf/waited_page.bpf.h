/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which page of a file, or block of a file system, a thread waits for. That tells the device,
 * whatever the thread does there: a call by descriptor or by path, or a page fault.
 *
 * For both, the thread's stack has an entry of a wait queue, which names the thread and the
 * function that wakes it:
 *
 *	page	struct wait_page_queue: the page, then the entry; wake_page_function
 *		(mm/filemap.c, folio_wait_bit_common())
 *	block	struct wait_bit_queue_entry: the address of the word with the bit that is waited
 *		for, then the entry; wake_bit_function (fs/buffer.c, __wait_on_buffer(), waits for
 *		a bit of the first word of a struct buffer_head)
 *
 * The entry stays until the thread runs again, and the page stays one of its file while it is
 * locked for a read or a write. Whoever wakes the thread has just unlocked it (folio_wake_bit()).
 * So look while the thread sleeps or at its waking, no later: a thread that reads by a descriptor
 * holds no reference to the page (filemap_update_page()), which may be one of another file by then.
 */
#ifndef OFFCPUD_WAITED_PAGE_BPF_H
#define OFFCPUD_WAITED_PAGE_BPF_H

#include "reason.bpf.h"
#include "waited_stack.bpf.h"

struct wait_bit_key {
	void *flags;
	int bit_nr;
} __attribute__((preserve_access_index));

struct wait_bit_queue_entry {
	struct wait_bit_key key;
	struct wait_queue_entry___waited wq_entry;
} __attribute__((preserve_access_index));

struct address_space___page;

struct inode___page {
	struct address_space___page *i_mapping;
} __attribute__((preserve_access_index));

struct address_space___page {
	struct inode___page *host;
} __attribute__((preserve_access_index));

struct folio___page {
	struct address_space___page *mapping;
} __attribute__((preserve_access_index));

struct page___page {
	struct address_space___page *mapping;
} __attribute__((preserve_access_index));

struct wait_page_queue {
	struct folio___page *folio; /* since 5.16 */
	struct page___page *page;   /* before */
	struct wait_queue_entry___waited wait;
} __attribute__((preserve_access_index));

struct gendisk___page;

struct block_device___page {
	__u32 bd_dev;
	struct gendisk___page *bd_disk;
} __attribute__((preserve_access_index));

struct gendisk___page {
	struct block_device___page *part0;
} __attribute__((preserve_access_index));

struct buffer_head___page {
	unsigned long b_state;
	struct block_device___page *b_bdev;
} __attribute__((preserve_access_index));

#define MAPPING_FLAGS 3 /* include/linux/page-flags.h: set if it is no address of a mapping */
#define BH_LOCK	      2 /* include/linux/buffer_head.h, enum bh_state_bits */

/* What the search costs, in steps as WALK_STEPS counts them. */
#define PAGE_STEPS 16

/* Addresses of the functions that wake such threads; 0: not seen yet. Found by their names. */
__u64 page_waker = 0;
__u64 block_waker = 0;

struct page_search {
	__u64 inode;  /* of the page's file, only for reads that may fail; 0: none was found */
	__u32 device; /* of the block; 0: none was found */
	__u32 place;
};

/* Finds out whether this is one of the two functions. */
SUBPROGRAM int page_learn_waker(__u64 function)
{
	char start[NAME_START + 1] = {};

	if (BPF_SNPRINTF(start, sizeof(start), "%ps", function) < 0)
		return 0;
	if (IS_FUNCTION(start, "wake_page_function"))
		page_waker = function;
	else if (IS_FUNCTION(start, "wake_bit_function"))
		block_waker = function;
	return 0;
}

/* The mapping of a page; 0: it is of no file, or has been taken from it. */
static __always_inline __u64 page_mapping(__u64 waits)
{
	struct wait_page_queue *queue = (void *)waits;
	__u64 mapping = 0;

	if (bpf_core_field_exists(queue->folio))
		mapping = (__u64)BPF_CORE_READ(queue, folio, mapping);
	else if (bpf_core_field_exists(queue->page))
		mapping = (__u64)BPF_CORE_READ(queue, page, mapping);
	return mapping & MAPPING_FLAGS ? 0 : mapping;
}

/* The file of the mapping, if that file has this very mapping: then the memory is what it seems to
 * be. 0: it has not; or the mapping is one of swap, which has no file. */
static __always_inline __u64 mapping_owner(__u64 mapping)
{
	struct address_space___page *pages = (void *)mapping;
	struct inode___page *host = BPF_CORE_READ(pages, host);

	return host && (__u64)BPF_CORE_READ(host, i_mapping) == mapping ? (__u64)host : 0;
}

/* The device of the block. 0: the memory is no block, as what it says is no device of a disk. */
static __always_inline __u32 block_device_of(__u64 waits)
{
	struct wait_bit_queue_entry *queue = (void *)waits;
	struct buffer_head___page *block = NULL;
	struct block_device___page *device;
	struct gendisk___page *disk = NULL;

	if (!bpf_core_field_exists(block->b_bdev) || !bpf_core_field_exists(disk->part0) ||
	    BPF_CORE_READ(queue, key.bit_nr) != BH_LOCK)
		return 0;
	block = BPF_CORE_READ(queue, key.flags);
	device = BPF_CORE_READ(block, b_bdev);
	disk = BPF_CORE_READ(device, bd_disk);
	if (!disk || BPF_CORE_READ(disk, part0, bd_disk) != disk)
		return 0;
	return BPF_CORE_READ(device, bd_dev);
}

/* Whether the entry is in its queue. It is until the thread has been woken: who wakes it removes
 * the entry afterwards (wake_page_function(), autoremove_wake_function()). An entry that is in no
 * queue was left on the stack by an earlier wait. Such ones are seen at a waking if the CPU that
 * the thread leaves has not stored its stack pointer yet. */
static __always_inline bool entry_is_queued(__u64 entry)
{
	__u64 link = entry + bpf_core_field_offset(struct wait_queue_entry___waited, entry);
	__u64 next = word_at(link + bpf_core_field_offset(struct list_head___waited, next));

	return next != link &&
	       word_at(next + bpf_core_field_offset(struct list_head___waited, prev)) == link;
}

/* Whether the word at this address of the stack is the `private` of an entry for a page or a block.
 * Notes which file or device it is. */
static __always_inline bool page_is_waited_for(struct page_search *search, __u64 private_at)
{
	__u64 entry = private_at - bpf_core_field_offset(struct wait_queue_entry___waited, private);
	__u64 function =
		word_at(entry + bpf_core_field_offset(struct wait_queue_entry___waited, func));

	if (!function || !entry_is_queued(entry))
		return false;
	if ((!page_waker || !block_waker) && function != page_waker && function != block_waker)
		page_learn_waker(function);
	if (function == page_waker) {
		__u64 mapping =
			page_mapping(entry - bpf_core_field_offset(struct wait_page_queue, wait));

		search->inode = mapping ? mapping_owner(mapping) : 0;
		return true;
	}
	if (function != block_waker)
		return false;
	search->device = block_device_of(
		entry - bpf_core_field_offset(struct wait_bit_queue_entry, wq_entry));
	return true;
}

static int page_search_step(__u32 index, struct page_search *search)
{
	__u64 named_at = waited_named_at(waited_at(search->place), index);

	return named_at && page_is_waited_for(search, named_at);
}

/* Finds the page or block for which the thread waits. The words at the top of the stack suffice:
 * few functions are called from where it waits. */
static __always_inline void page_find(struct page_search *search, struct task_struct *task,
				      __u32 place)
{
	struct waited *waited = waited_at(place);

	__builtin_memset(search, 0, sizeof(*search));
	search->place = place;
	if (waited && bpf_core_type_exists(struct wait_page_queue) &&
	    bpf_core_type_exists(struct wait_bit_queue_entry))
		bpf_loop(waited_copy_stack(waited, task), page_search_step, search, 0);
}

/* Whether a thread that blocks for this reason may wait for a page or block: such waits are marked
 * as I/O (io_schedule()), so their reason is `disk`. */
static __always_inline bool may_wait_for_page(struct task_struct *task, __u32 kind)
{
	return read_files && kind == OFFCPUD_BLOCKED_DISK && !is_kernel_thread(task);
}

#endif
