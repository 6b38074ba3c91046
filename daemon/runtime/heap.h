// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// These functions keep resident memory near what is in use, instead of what the busiest minute
// needed. With a C library other than glibc they do nothing.

// Makes free() return big blocks at once, and limits all threads to two arenas. Call it before the
// first thread starts.
void keep_heap_small();

// Returns every empty page of the heap to the kernel. Any thread may call it; others that allocate
// wait meanwhile, so do not call it in the middle of a pass.
void give_heap_back();

}  // namespace offcpud
