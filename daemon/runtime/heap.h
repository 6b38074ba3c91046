// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// That the resident memory follows what is in use and not what the busiest minute needed. Where the
// C library is not glibc, they do nothing.

// Gives back big blocks at once, and keeps all threads together in two arenas. To be called before
// the first thread starts.
void keep_heap_small();

// Returns to the kernel every page of the heap that holds nothing. From any thread; others wait for
// it when they allocate, so it is nothing for the middle of a pass.
void give_heap_back();

}  // namespace offcpud
