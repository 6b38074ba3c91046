// SPDX-License-Identifier: Apache-2.0
#include "base/memory_file.h"

#include <sys/mman.h>

#include <cerrno>

namespace offcpud {
namespace {

constexpr unsigned kNoExecSeal = 8;  // MFD_NOEXEC_SEAL, which the headers of Debian 12 lack

}  // namespace

Result<UniqueFd> memory_file(const char* name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd file(::memfd_create(name, kFlags | kNoExecSeal));
  if (!file && errno == EINVAL) file.reset(::memfd_create(name, kFlags));
  if (!file) return Error::from_errno(errno, "make a file in memory", name);
  return file;
}

}  // namespace offcpud
