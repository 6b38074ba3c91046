/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who loads which disk (docs/decisions/0024-who-loads-a-disk.md). A request is noted when it is
 * made, since then the thread that wants it is current, and is added to the sums of that thread's
 * cgroup when it is done.
 */
#include "cost.bpf.h"
#include "disk_types.bpf.h"

/*
 * A request under way, found by its first bio. No lock guards it: `check` is the other two and the
 * bio's number combined by XOR, so what two CPUs have written at once is nobody's, and its request
 * counts as OFFCPUD_LOADER_UNKNOWN.
 */
struct disk_request {
	__u64 check; /* 0: free */
	__u64 cgroup_id;
	__u64 since_ns;
};

#define DISK_REQUEST_BITS 13

/* A bio waits for its request no longer. What is noted so long before a request began is of an
 * earlier bio at its address. */
#define STALE_NS (60 * 1000000000ULL)

/* The daemon shrinks it before load where nobody follows requests. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << DISK_REQUEST_BITS);
	__type(key, __u32);
	__type(value, struct disk_request);
} disk_requests SEC(".maps");

/* Only the daemon removes an entry. Not pre-allocated: then a program that still adds to a removed
 * one adds to nobody's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFFCPUD_DISK_LOADERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct offcpud_disk_loader);
	__type(value, struct offcpud_disk_load);
} disk_loads SEC(".maps");

/* The same as long as the bio is under way. Pointers may only be subtracted from each other. */
static __always_inline __u64 number_of(struct bio *bio)
{
	struct block_device *device = bio->bi_bdev;
	__u64 number = (__u64)bio;

	asm volatile("%0 -= %1" : "+r"(number) : "r"(device));
	return number;
}

/* One of two places for the bio; the other one is that ^ 1. */
static __always_inline __u32 place_of(__u64 number)
{
	return number * 0x9e3779b97f4a7c15ULL >> (64 - DISK_REQUEST_BITS);
}

/* Whether the place has this bio; what was found there is in `found`. */
static __always_inline bool request_is(struct disk_request *request, __u64 number,
				       struct disk_request *found)
{
	found->check = READ_ONCE(request->check);
	found->cgroup_id = READ_ONCE(request->cgroup_id);
	found->since_ns = READ_ONCE(request->since_ns);
	return found->check && found->check == (number ^ found->cgroup_id ^ found->since_ns);
}

/* Requests that were merged into others never end: what they left gives way to their bio's next
 * request, or to others as the older one of the two places. */
static __always_inline void request_note(__u64 number, __u64 cgroup_id, __u64 now)
{
	__u32 at = place_of(number), beside = at ^ 1;
	struct disk_request *request = bpf_map_lookup_elem(&disk_requests, &at);
	struct disk_request *other = bpf_map_lookup_elem(&disk_requests, &beside);
	struct disk_request here, there;

	if (!request || !other)
		return;
	if (!request_is(request, number, &here)) {
		if (request_is(other, number, &there) ||
		    (here.check && (!there.check || there.since_ns < here.since_ns)))
			request = other;
	}
	WRITE_ONCE(request->check, number ^ cgroup_id ^ now);
	WRITE_ONCE(request->cgroup_id, cgroup_id);
	WRITE_ONCE(request->since_ns, now);
}

/* Fills in `found`. NULL: it is not known. */
static __always_inline struct disk_request *request_find(__u64 number, struct disk_request *found)
{
	__u32 at = place_of(number), beside = at ^ 1;
	struct disk_request *request = bpf_map_lookup_elem(&disk_requests, &at);

	if (request && request_is(request, number, found))
		return request;
	request = bpf_map_lookup_elem(&disk_requests, &beside);
	return request && request_is(request, number, found) ? request : NULL;
}

/* To whom the kernel charges what a kernel thread does, such as write-back. That is a cgroup only
 * where v2 has the io controller; a cgroup of v1 has an id in another hierarchy. */
static __always_inline __u64 charged_cgroup(struct bio *bio)
{
	struct cgroup *cgroup;

	if (!bpf_core_field_exists(bio->bi_blkg))
		return OFFCPUD_LOADER_KERNEL;
	cgroup = bio->bi_blkg->blkcg->css.cgroup;
	if (!cgroup || cgroup->root->hierarchy_id != 0 || !cgroup->self.parent)
		return OFFCPUD_LOADER_KERNEL;
	return cgroup->kn->id;
}

/* A bio gets a request of its own; a bio that is merged into another's request never comes here.
 * Always in the context of the thread that submits it (block/blk-mq.c, blk_mq_submit_bio). */
SEC("tp_btf/block_getrq")
int BPF_PROG(on_block_getrq, struct bio *submitted)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bio *bio = CHECKED(submitted);
	__u64 now = bpf_ktime_get_ns();
	__u64 cgroup_id;

	if (!bio)
		return 0;
	/* A worker of io_uring is no kernel thread here: it is in the cgroup of who asked. */
	if (task->flags & PF_KTHREAD)
		cgroup_id = charged_cgroup(bio);
	else
		cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	request_note(number_of(bio), cgroup_id, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_GETRQ, now);
	return 0;
}

SUBPROGRAM int load_create(struct offcpud_disk_loader *loader, struct request *rq)
{
	struct offcpud_disk_load fresh = {};
	struct gendisk *disk = rq->q->disk;

	for (int i = 0; i < OFFCPUD_DISK_NAME - 1; i++)
		fresh.disk[i] = disk->disk_name[i];
	/* Another CPU may have been faster. */
	bpf_map_update_elem(&disk_loads, loader, &fresh, BPF_NOEXIST);
	return 0;
}

static __always_inline __u32 operation_of(struct request *rq)
{
	__u32 operation = rq->cmd_flags & REQ_OP_MASK;

	if (operation == REQ_OP_DISCARD)
		return OFFCPUD_DISK_DISCARD;
	return operation & 1 ? OFFCPUD_DISK_WRITE : OFFCPUD_DISK_READ;
}

/* Whether nothing of the request is left. A request that flushes the disk's cache comes once for
 * its data, and once more when it is done (block/blk-flush.c). */
static __always_inline bool is_done(struct request *rq, unsigned int bytes)
{
	__u32 flush = 1 << 4;

	if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ))
		flush = 1 << bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ);
	return bytes >= rq->__data_len && !(rq->rq_flags & flush);
}

static __always_inline int request_end(struct request *rq, unsigned int bytes, __u64 now)
{
	struct offcpud_disk_loader loader = {.cgroup_id = OFFCPUD_LOADER_UNKNOWN};
	bool done = is_done(rq, bytes);
	__u64 since_ns = rq->start_time_ns;
	struct disk_request *request, found = {};
	struct offcpud_disk_load *load;
	__u32 operation = operation_of(rq);
	struct gendisk *disk = rq->q->disk;
	struct bio *bio = rq->bio;

	/* A flush by itself has no bio: the request that wants it is counted. */
	if (!bio || !disk)
		return 0;
	request = request_find(number_of(bio), &found);
	if (request && since_ns < found.since_ns + STALE_NS) {
		loader.cgroup_id = found.cgroup_id;
		if (!since_ns)
			since_ns = found.since_ns;
		if (done)
			WRITE_ONCE(request->check, 0);
	}
	loader.major = disk->major;
	loader.minor = disk->first_minor;
	load = bpf_map_lookup_elem(&disk_loads, &loader);
	if (!load) {
		load_create(&loader, rq);
		load = bpf_map_lookup_elem(&disk_loads, &loader);
		if (!load)
			return loss_add(OFFCPUD_LOSS_DISK_LOADS_FULL);
	}
	if (bytes)
		atomic_add(&load->bytes[operation], bytes);
	if (!done)
		return 0;
	atomic_add(&load->requests[operation], 1);
	if (since_ns && now > since_ns)
		atomic_add(&load->ns, now - since_ns);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_rq_complete, struct request *completed, int error, unsigned int bytes)
{
	struct request *rq = CHECKED(completed);
	__u64 now = bpf_ktime_get_ns();

	if (!rq)
		return 0;
	request_end(rq, bytes, now);
	if (cost_is_timed(now))
		cost_add_sampled(OFFCPUD_PROGRAM_RQ_COMPLETE, now);
	return 0;
}
