/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for addresses in the kernel, from the kernel itself: nobody has to read /proc/kallsyms, for
 * which the daemon would need CAP_SYSLOG, a tenth of a second and the list's memory. */
#include "kernel.bpf.h"
#include "sample.h"

/* The question and the answer of one run. */
__u64 named_addresses[OFFCPUD_NAMES] = {};
char kernel_names[OFFCPUD_NAMES][OFFCPUD_NAME_BYTES] = {};

/* %pB: that of a return address, "schedule+0x2a/0x90 [module]", so a call that is the last
 * instruction of its function is still in it. */
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
