// SPDX-License-Identifier: Apache-2.0
#include "elf/vdso.h"

#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>

#include "base/memory_file.h"

namespace offcpud {

Result<UniqueFd> vdso_file() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds numbers only
  const auto* image = reinterpret_cast<const Elf64_Ehdr*>(::getauxval(AT_SYSINFO_EHDR));
  if (!image) return Error("this kernel maps no vDSO", ErrorKind::Unsupported);
  // The kernel links it: its section headers are last.
  const std::size_t size = image->e_shoff + std::size_t{image->e_shnum} * image->e_shentsize;
  TRY(UniqueFd file, memory_file("vdso"));
  if (::pwrite(file.get(), image, size, 0) != static_cast<ssize_t>(size)) {
    return Error::from_errno(errno, "write", "vdso");
  }
  return file;
}

}  // namespace offcpud
