/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts who loads which disk (docs/decisions/0024-who-loads-a-disk.md). The programs note a
 * request when it is made, because the thread that wants it is current then. When it is done, they
 * add it to the sums of that thread's cgroup.
 */
#include "cost.bpf.h"
#include "disk_types.bpf.h"

/*
 * A request under way, found by its first bio. No lock guards it. `check` is the XOR of the bio's
 * number and the other two words, so an entry that two CPUs wrote at once fits no bio, and its
 * request counts as OFFCPUD_LOADER_UNKNOWN.
 */
struct disk_request {
	__u64 check; /* 0: free */
	__u64 cgroup_id;
	__u64 since_ns;
};

#define DISK_REQUEST_BITS 13

/* No bio waits longer for its request. An entry that was noted earlier than this before the request
 * began belongs to an earlier bio at the same address. */
#define STALE_NS (60 * 1000000000ULL)

/* If requests are not followed, the daemon shrinks it before it loads the programs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << DISK_REQUEST_BITS);
	__type(key, __u32);
	__type(value, struct disk_request);
} disk_requests SEC(".maps");

/* Only the daemon removes entries. They are not pre-allocated, so the memory of a removed entry is
 * not another entry's while a program may still add to it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OFFCPUD_DISK_LOADERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct offcpud_disk_loader);
	__type(value, struct offcpud_disk_load);
} disk_loads SEC(".maps");

/* A number that stays the same while the bio is under way. Programs may not use a pointer as a
 * number, but may subtract one from another. */
static __always_inline __u64 bio_number(struct bio *bio)
{
	struct block_device *device = bio->bi_bdev;
	__u64 number = (__u64)bio;

	asm volatile("%0 -= %1" : "+r"(number) : "r"(device));
	return number;
}

/* One of the two places of the bio. The other one is this ^ 1. */
static __always_inline __u32 place_of(__u64 number)
{
	return number * 0x9e3779b97f4a7c15ULL >> (64 - DISK_REQUEST_BITS);
}

/* Whether the entry is of this bio. Fills in `found` in any case. */
static __always_inline bool request_is(struct disk_request *request, __u64 number,
				       struct disk_request *found)
{
	found->check = READ_ONCE(request->check);
	found->cgroup_id = READ_ONCE(request->cgroup_id);
	found->since_ns = READ_ONCE(request->since_ns);
	return found->check && found->check == (number ^ found->cgroup_id ^ found->since_ns);
}

/* Notes a request. Replaces the entry of the same bio, else that of the first place if it is free,
 * else the other place if that is free, else the older one. So entries of requests that were merged
 * into others, which never end, are replaced in time. */
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

/* Finds the entry of a bio, and copies it to `found`. NULL: there is none. */
static __always_inline struct disk_request *request_find(__u64 number, struct disk_request *found)
{
	__u32 at = place_of(number), beside = at ^ 1;
	struct disk_request *request = bpf_map_lookup_elem(&disk_requests, &at);

	if (request && request_is(request, number, found))
		return request;
	request = bpf_map_lookup_elem(&disk_requests, &beside);
	return request && request_is(request, number, found) ? request : NULL;
}

/* The cgroup to which the kernel charges a request of a kernel thread, such as write-back. It is
 * known only if v2 has the io controller: the id of a v1 cgroup belongs to another hierarchy. */
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

/* Runs when a bio gets a request of its own, always in the context of the thread that submits the
 * bio (block/blk-mq.c, blk_mq_submit_bio). A bio that is merged into another's request never comes
 * here. */
SEC("tp_btf/block_getrq")
int BPF_PROG(on_block_getrq, struct bio *submitted)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bio *bio = CHECKED(submitted);
	__u64 now = bpf_ktime_get_ns();
	__u64 cgroup_id;

	if (!bio)
		return 0;
	/* A worker of io_uring has no PF_KTHREAD, and is in the cgroup of the thread that asked. */
	if (task->flags & PF_KTHREAD)
		cgroup_id = charged_cgroup(bio);
	else
		cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	request_note(bio_number(bio), cgroup_id, now);
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
	/* If another CPU has created it meanwhile, this fails, and the entry stays. */
	bpf_map_update_elem(&disk_loads, loader, &fresh, BPF_NOEXIST);
	return 0;
}

static __always_inline __u32 request_operation(struct request *rq)
{
	__u32 operation = rq->cmd_flags & REQ_OP_MASK;

	if (operation == REQ_OP_DISCARD)
		return OFFCPUD_DISK_DISCARD;
	return operation & REQ_OP_OUT ? OFFCPUD_DISK_WRITE : OFFCPUD_DISK_READ;
}

/* Whether the request is done as a whole. A request that also flushes the disk's cache completes
 * twice: once with its data, and once as a whole (block/blk-flush.c). */
static __always_inline bool request_is_done(struct request *rq, unsigned int bytes)
{
	__u32 flush = 1 << 4;

	if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ))
		flush = 1 << bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ);
	return bytes >= rq->__data_len && !(rq->rq_flags & flush);
}

static __always_inline int request_end(struct request *rq, unsigned int bytes, __u64 now)
{
	struct offcpud_disk_loader loader = {.cgroup_id = OFFCPUD_LOADER_UNKNOWN};
	bool done = request_is_done(rq, bytes);
	__u64 since_ns = rq->start_time_ns;
	struct disk_request *request, found = {};
	struct offcpud_disk_load *load;
	__u32 operation = request_operation(rq);
	struct gendisk *disk = rq->q->disk;
	struct bio *bio = rq->bio;

	/* A flush by itself has no bio. It is not counted, but the request that wants it is. */
	if (!bio || !disk)
		return 0;
	request = request_find(bio_number(bio), &found);
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
