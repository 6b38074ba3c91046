/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of addresses in the kernel, from the kernel itself. /proc/kallsyms would need CAP_SYSLOG, a
 * tenth of a second and memory for the list. */
#include "kernel.bpf.h"
#include "sample.h"

/* The addresses that one run is asked about, and its answers. */
__u64 named_addresses[OFFCPUD_NAMES] = {};
char kernel_names[OFFCPUD_NAMES][OFFCPUD_NAME_BYTES] = {};

/* %pB names a return address, "schedule+0x2a/0x90 [module]": a call that is the last instruction of
 * a function is still in that function. */
SEC("syscall")
int name_addresses(void *ctx)
{
	for (int i = 0; i < OFFCPUD_NAMES; i++) {
		kernel_names[i][0] = 0;
		if (named_addresses[i])
			BPF_SNPRINTF(kernel_names[i], OFFCPUD_NAME_BYTES, "%pB",
				     named_addresses[i]);
	}
	return 0;
}
