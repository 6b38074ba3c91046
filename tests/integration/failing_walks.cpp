// SPDX-License-Identifier: Apache-2.0
// Preloaded into a daemon: as long as the file that $OFFCPUD_TEST_FAILING_WALKS names exists, no
// walk over the threads can be begun, so every pass fails. Its other system calls work, which a
// lower limit of descriptors would not leave it: telling the service manager anything takes a
// descriptor, too.
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

extern "C" int bpf_iter_create(int link_fd) {
  const char* const file = std::getenv("OFFCPUD_TEST_FAILING_WALKS");
  if (file != nullptr && ::access(file, F_OK) == 0) {
    errno = EMFILE;
    return -EMFILE;
  }
  using Create = int(int);
  static auto* const real = reinterpret_cast<Create*>(::dlsym(RTLD_NEXT, "bpf_iter_create"));
  return real(link_fd);
}
