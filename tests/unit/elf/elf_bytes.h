// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "base/unique_handle.h"
#include "support/elf_header.h"
#include "unit/elf/cfi_bytes.h"

namespace offcpud {

// A file in memory with text at 0 .. 0x10'0000 and the given .eh_frame behind it, found by
// its name.
inline UniqueFd elf_file(const CfiBytes& cfi) {
  constexpr std::size_t kText = 0, kEnd = 0x100000;
  const char names[] = "\0.eh_frame";
  Elf64_Ehdr header = test::elf_header();
  header.e_phnum = 1;
  header.e_shoff = 0x100;
  header.e_shnum = 2;
  const Elf64_Phdr text{.p_type = PT_LOAD,
                        .p_flags = PF_R | PF_X,
                        .p_offset = kText,
                        .p_vaddr = kText,
                        .p_paddr = kText,
                        .p_filesz = kEnd - kText,
                        .p_memsz = kEnd - kText,
                        .p_align = 4096};
  Elf64_Shdr sections[2]{};
  sections[0].sh_offset = 0x200;
  sections[0].sh_size = sizeof names;
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_flags = SHF_ALLOC;
  sections[1].sh_addr = sections[1].sh_offset = kEnd;
  sections[1].sh_size = cfi.bytes().size();

  UniqueFd file(::memfd_create("elf", MFD_CLOEXEC));
  const auto write = [&](const void* bytes, std::size_t size, std::size_t offset) {
    (void)!::pwrite(file.get(), bytes, size, static_cast<off_t>(offset));
  };
  write(&header, sizeof header, 0);
  write(&text, sizeof text, header.e_phoff);
  write(sections, sizeof sections, header.e_shoff);
  write(names, sizeof names, 0x200);
  write(cfi.bytes().data(), cfi.bytes().size(), kEnd);
  return file;
}

}  // namespace offcpud
