// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_build_id.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

namespace offcpud {
namespace {

constexpr std::size_t kLimit = std::size_t{64} * 1024;

std::size_t aligned(std::size_t size) {
  return (size + 3) & ~std::size_t{3};
}

// Up to `size` bytes of the file at `offset`; fewer at its end, none on an error.
std::vector<std::byte> read_at(int fd, std::uint64_t offset, std::uint64_t size) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(size, kLimit));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

template <class T>
bool copy_from(std::span<const std::byte> bytes, std::size_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

template <class Header, class Segment>
BuildId build_id_of(int fd) {
  Header header{};
  if (!copy_from(read_at(fd, 0, sizeof header), 0, header)) return {};
  if (header.e_phentsize != sizeof(Segment)) return {};
  const auto segments =
      read_at(fd, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Segment));
  Segment segment{};
  for (std::size_t at = 0; copy_from(segments, at, segment); at += sizeof segment) {
    if (segment.p_type != PT_NOTE) continue;
    const BuildId id = find_build_id_note(read_at(fd, segment.p_offset, segment.p_filesz));
    if (id.known()) return id;
  }
  return {};
}

}  // namespace

BuildId find_build_id_note(std::span<const std::byte> notes) {
  Elf64_Nhdr note{};  // the same as Elf32_Nhdr
  while (copy_from(notes, 0, note)) {
    notes = notes.subspan(sizeof note);
    const std::size_t name = aligned(note.n_namesz);
    if (name > notes.size() || note.n_descsz > notes.size() - name) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(notes.data(), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
      const BuildId id = BuildId::from(notes.subspan(name, note.n_descsz));
      if (id.known()) return id;
    }
    notes = notes.subspan(std::min(notes.size(), name + aligned(note.n_descsz)));
  }
  return {};
}

BuildId read_build_id(int fd) {
  constexpr unsigned char kNative =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  unsigned char ident[EI_NIDENT] = {};
  const auto bytes = read_at(fd, 0, sizeof ident);
  if (bytes.size() < sizeof ident) return {};
  std::memcpy(ident, bytes.data(), sizeof ident);
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != kNative) return {};
  if (ident[EI_CLASS] == ELFCLASS64) return build_id_of<Elf64_Ehdr, Elf64_Phdr>(fd);
  if (ident[EI_CLASS] == ELFCLASS32) return build_id_of<Elf32_Ehdr, Elf32_Phdr>(fd);
  return {};
}

}  // namespace offcpud
