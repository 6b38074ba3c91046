// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap.h"

#include <malloc.h>

namespace offcpud {

// mallopt(3). By default, contention gives threads arenas of their own, up to eight per CPU, which
// grow with the busiest minute and are never trimmed; and freeing the first big block raises both
// thresholds, up to 32 and 64 MiB. This daemon's few threads wait for BPF maps and sockets, hardly
// for the allocator.
void keep_heap_small() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 512 << 10);
#endif
}

// malloc_trim(3) also returns pages in the middle of all arenas, since glibc 2.8.
void give_heap_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace offcpud
