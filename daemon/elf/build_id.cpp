// SPDX-License-Identifier: Apache-2.0
#include "elf/build_id.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "elf/byte_source.h"
#include "elf/elf_file.h"

namespace offcpud {

BuildId BuildId::from(std::span<const std::uint8_t> bytes) {
  BuildId id;
  if (bytes.size() > kMaxSize) return id;
  std::ranges::copy(bytes, id.bytes.begin());
  id.size = static_cast<std::uint8_t>(bytes.size());
  return id;
}

std::string BuildId::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : std::span(bytes).first(size)) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

BuildId find_build_id(Bytes notes, std::size_t max_size) {
  constexpr auto kPadding = [](std::uint64_t size) { return (4 - size % 4) % 4; };
  ByteReader reader(notes);
  while (!reader.at_end()) {
    const auto note = reader.take<Elf64_Nhdr>();  // Elf32_Nhdr is the same
    const Bytes name = reader.take_bytes(note.n_namesz);
    (void)reader.take_bytes(kPadding(note.n_namesz));
    const Bytes id = reader.take_bytes(note.n_descsz);
    if (!reader.ok()) break;
    if (note.n_type == NT_GNU_BUILD_ID && name.size() == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(name.data(), ELF_NOTE_GNU, name.size()) == 0 && !id.empty() &&
        id.size() <= max_size) {
      return BuildId::from(id);
    }
    (void)reader.take_bytes(kPadding(note.n_descsz));
  }
  return {};
}

BuildId read_build_id(int fd) {
  const auto source = ByteSource::from_file(fd);
  if (!source) return {};
  const auto file = ElfFile::read(*source, ElfFile::Parts::Segments);
  return file ? file->build_id(BuildId::kKernelMaxSize) : BuildId();
}

}  // namespace offcpud
