/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of offcpud: follows every thread through running, runnable and blocked, and adds
 * each finished wait to a histogram of its cgroup. What the numbers mean: docs/semantics.md.
 *
 * Programs are in .bpf.c files, the code that they inline in .bpf.h files. All are compiled here as
 * one, and loaded as one object; the daemon leaves out those of a feature that the kernel refuses
 * (docs/decisions/0017-one-object.md).
 */
#include "sched.bpf.c"

#include "walk.bpf.c"

/* Optional, each with the feature that it belongs to (daemon/kernel/optional_features.cpp). */
#include "blocked.bpf.c"
#include "cgroup_events.bpf.c"
#include "describe.bpf.c"
#include "disk.bpf.c"
#include "kernel_names.bpf.c"
#include "owners.bpf.c"
#include "sockets.bpf.c"
#include "stacks.bpf.c"

char LICENSE[] SEC("license") = "GPL";
