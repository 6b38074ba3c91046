/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports cgroups as they come and go, with their names. A cgroup that lives for milliseconds has
 * waits like any other, and a walk of the file system would never see it. */
#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} cgroup_events SEC(".maps");

static __always_inline int cgroup_event_send(struct cgroup *cgroup, __u32 change)
{
	struct offcpud_cgroup_event *event;
	struct cgroup_subsys_state *parent;

	/* Hierarchy 0 is the default one, v2; the others are v1 (kernel/cgroup/cgroup.c). */
	if (cgroup->root->hierarchy_id != 0)
		return 0;
	event = bpf_ringbuf_reserve(&cgroup_events, sizeof(*event), 0);
	if (!event)
		return loss_add(OFFCPUD_LOSS_CGROUP_EVENT);
	event->cgroup_id = cgroup->kn->id;
	parent = cgroup->self.parent;
	event->parent_id = parent ? parent->cgroup->kn->id : 0;
	event->change = change;
	event->reserved = 0;
	event->name[0] = 0;
	if (change == OFFCPUD_CGROUP_CREATED)
		bpf_probe_read_kernel_str(event->name, sizeof(event->name), cgroup->kn->name);
	bpf_ringbuf_submit(event, 0);
	return 0;
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_mkdir, struct cgroup *cgroup)
{
	return cgroup_event_send(cgroup, OFFCPUD_CGROUP_CREATED);
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup *cgroup)
{
	return cgroup_event_send(cgroup, OFFCPUD_CGROUP_REMOVED);
}
