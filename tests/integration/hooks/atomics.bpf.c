/* SPDX-License-Identifier: GPL-2.0-only */
/* One program for each name of atomic.bpf.h. Compiled for x86 and for an architecture that keeps no
 * order of its own. */
#include "atomic.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__u64 word = 0, found = 0;
__u32 half = 0;

SEC("raw_tp")
int op_atomic_add(void* ctx) {
  atomic_add(&word, 2);
  return 0;
}

SEC("raw_tp")
int op_fetch_add(void* ctx) {
  found = fetch_add(&word, 2);
  return 0;
}

SEC("raw_tp")
int op_fetch_add_32(void* ctx) {
  found = fetch_add(&half, -1);
  return 0;
}

SEC("raw_tp")
int op_xchg(void* ctx) {
  found = xchg(&word, 7);
  return 0;
}

SEC("raw_tp")
int op_cmpxchg(void* ctx) {
  found = cmpxchg(&word, 5, 9);
  return 0;
}

SEC("raw_tp")
int op_store_release(void* ctx) {
  smp_store_release(&word, 3);
  return 0;
}

SEC("raw_tp")
int op_load_acquire(void* ctx) {
  found = smp_load_acquire(&word);
  return 0;
}
