// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap.h"

#include <malloc.h>

namespace offcpud {

// mallopt(3). By default every thread that meets contention gets an arena of its own, up to eight a
// CPU, which grow with the busiest minute and are never trimmed; and the first big block that is
// freed raises both thresholds, to up to 32 and 64 MiB. Here the few threads wait for BPF maps and
// sockets rather than for the allocator.
void keep_heap_small() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 512 << 10);
#endif
}

// malloc_trim(3): since glibc 2.8 pages in the middle, too, in all arenas.
void give_heap_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace offcpud
