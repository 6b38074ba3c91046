// SPDX-License-Identifier: Apache-2.0
#include "elf/vdso.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>

#include "base/memory_file.h"

namespace offcpud {

Result<std::string_view> vdso_image() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds numbers only
  const auto* const image = reinterpret_cast<const ElfW(Ehdr)*>(::getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return Error("this kernel maps no vDSO", ErrorKind::Unsupported);
  // Its headers can be trusted, as they come with the kernel. Section headers are last in it.
  const std::size_t size = image->e_shoff + std::size_t{image->e_shnum} * image->e_shentsize;
  return std::string_view(reinterpret_cast<const char*>(image), size);
}

Result<UniqueFd> vdso_file() {
  TRY(const std::string_view image, vdso_image());
  TRY(UniqueFd file, memory_file("vdso"));
  if (::pwrite(file.get(), image.data(), image.size(), 0) != static_cast<ssize_t>(image.size())) {
    return Error::from_errno(errno, "write", "vdso");
  }
  return file;
}

}  // namespace offcpud
