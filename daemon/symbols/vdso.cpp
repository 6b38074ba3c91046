// SPDX-License-Identifier: Apache-2.0
#include "symbols/vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace offcpud {

Result<ElfSymbols> read_vdso_symbols() {
  const unsigned long start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return Error("read vDSO: the kernel maps none", ErrorKind::Unsupported);
  // The kernel's own image is trusted, and its headers tell its size. The section headers come
  // last. NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel tells where it is
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(start);
  std::uint64_t size = header->e_shoff + std::uint64_t{header->e_shnum} * header->e_shentsize;
  const auto* const segments =
      reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const char*>(header) + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) {
      size = std::max<std::uint64_t>(size, segments[i].p_offset + segments[i].p_filesz);
    }
  }
  return ElfSymbols::read_image({reinterpret_cast<const char*>(header), size});
}

}  // namespace offcpud
