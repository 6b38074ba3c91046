// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_iterator.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>

namespace offcpud {

Result<UniqueFd> begin_iteration(const BpfLink& link, const char* what) {
  UniqueFd run(bpf_iter_create(bpf_link__fd(link.get())));
  if (!run) return Error::from_errno(errno, what);
  return run;
}

Result<std::size_t> read_iteration(const UniqueFd& run, std::span<std::byte> to, const char* what) {
  for (;;) {
    const ssize_t got = ::read(run.get(), to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    // EAGAIN: the program wrote nothing for many objects.
    if (errno != EINTR && errno != EAGAIN) return Error::from_errno(errno, what);
  }
}

}  // namespace offcpud
