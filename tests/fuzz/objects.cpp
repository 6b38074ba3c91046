// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "fuzz.h"
#include "support/elf_header.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

namespace fs = std::filesystem;

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::vector<std::string> small_objects(std::size_t most_bytes, std::size_t most) {
  std::vector<std::pair<std::uintmax_t, std::string>> files;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/bin", "/usr/lib64"}) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      if (!entry.is_regular_file(ignored) || entry.is_symlink(ignored)) continue;
      const std::uintmax_t size = entry.file_size(ignored);
      if (!ignored && size <= most_bytes) files.emplace_back(size, entry.path().native());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> objects;
  for (const auto& [size, path] : files) {
    std::string content = content_of(path, most_bytes);
    if (content.starts_with(ELFMAG)) objects.push_back(std::move(content));
    if (objects.size() == most) break;
  }
  return objects;
}

std::string vdso_image() {
  const auto* const begin = reinterpret_cast<const char*>(::getauxval(AT_SYSINFO_EHDR));
  return begin == nullptr ? std::string() : std::string(begin, 4096);
}

std::string elf_image(const ElfSections& sections) {
  Elf64_Ehdr header = test::elf_header();
  header.e_phnum = 1;
  header.e_shoff = sizeof header + sizeof(Elf64_Phdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size() + 2);
  header.e_shstrndx = 1;
  Elf64_Phdr text{};
  text.p_type = PT_LOAD;
  text.p_flags = PF_R | PF_X;
  text.p_filesz = text.p_memsz = 16 << 20;

  std::string names("\0.shstrtab\0", 11);
  std::string contents;
  std::string table(sizeof(Elf64_Shdr), '\0');
  const std::size_t begin = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  const auto add = [&](std::size_t name, std::uint32_t type, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(name);
    section.sh_type = type;
    section.sh_flags = SHF_ALLOC;
    section.sh_addr = 0x10000000 + contents.size();
    section.sh_offset = begin + contents.size();
    section.sh_size = content.size();
    section.sh_addralign = 1;
    append(table, section);
    contents += content;
  };
  std::vector<std::size_t> places;
  for (const auto& [name, content] : sections) {
    places.push_back(names.size());
    names.append(name).append(1, '\0');
  }
  add(1, SHT_STRTAB, names);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const bool is_note = sections[i].first.starts_with(".note");
    add(places[i], is_note ? SHT_NOTE : SHT_PROGBITS, sections[i].second);
  }
  std::string image;
  append(image, header);
  append(image, text);
  return image + table + contents;
}

std::string build_id_note(std::string_view id) {
  std::string note;
  append(note, Elf64_Nhdr{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID});
  note.append("GNU\0", 4).append(id);
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

InputFile::InputFile() : fd_(::memfd_create("input", MFD_CLOEXEC)) {
  require(static_cast<bool>(fd_), "there is a file in memory");
}

int InputFile::with(std::string_view content) {
  const auto size = static_cast<off_t>(content.size());
  require(::ftruncate(fd_.get(), 0) == 0 && ::ftruncate(fd_.get(), size) == 0 &&
              ::pwrite(fd_.get(), content.data(), content.size(), 0) == size,
          "the file takes the input");
  return fd_.get();
}

}  // namespace offcpud::fuzz
