// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstring>

namespace offcpud::test {

// The header of a shared object for x86-64 whose program headers follow it at once. Counts, and
// where the section headers are, are left to the caller.
inline Elf64_Ehdr elf_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

}  // namespace offcpud::test
