// SPDX-License-Identifier: Apache-2.0
#include "golang/go_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostSegments = 64;

AddressRange range_of(const ElfSection* section) {
  if (section == nullptr || section->size > UINT64_MAX - section->address) return {};
  return {section->address, section->address + section->size};
}

// Where the table begins within other data: after the first word, which only versions from 1.18 on
// have, come two zeros, the size of the smallest instruction, and that of a pointer.
std::optional<std::size_t> find_table(Bytes bytes) {
  constexpr std::size_t kAlignment = 8;
  constexpr std::array<std::uint8_t, 7> kRest{0xff, 0xff, 0xff, 0, 0, 1, 8};
  for (std::size_t at = 0; at + 1 + kRest.size() <= bytes.size(); at += kAlignment) {
    const bool is_known = bytes[at] == 0xf0 || bytes[at] == 0xf1;
    if (is_known && std::ranges::equal(kRest, bytes.subspan(at + 1, kRest.size()))) return at;
  }
  return std::nullopt;
}

// Go's linker makes a section of the table. The C compiler's linker, which a program takes that has
// C in it, puts it into one with other data if the program may be loaded anywhere.
Status read_table(const ElfFile& file, GoFile& go) {
  TRY(go.table, read_go_section(file));
  const ElfSection* section = file.section(".gopclntab");
  if (section == nullptr) section = file.section(".data.rel.ro.gopclntab");
  if (section != nullptr) {
    go.table_address = section->address;
    return {};
  }
  section = file.section(".data.rel.ro");
  const ElfSection* const code = file.section(".text");
  if (section == nullptr || code == nullptr || section->size > kMaxGoTable) return {};
  TRY(auto bytes, file.source().read_up_to(section->offset, section->size));
  const auto at = find_table(bytes);
  if (!at) return {};
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*at));
  go.table = {.bytes = std::move(bytes), .program = {.text = code->address, .entry = file.entry()}};
  go.table_address = section->address + *at;
  return {};
}

}  // namespace

std::optional<std::uint64_t> GoFile::bias(std::uint64_t begin, std::uint64_t offset) const {
  for (const ElfSegment& segment : segments) {
    const std::uint64_t first = segment.offset / kPage * kPage;
    if (offset < first || offset - first >= segment.file_size) continue;
    return begin - (segment.address / kPage * kPage + (offset - first));
  }
  return std::nullopt;
}

Result<std::optional<GoFile>> read_go_file(int fd) {
  TRY(const ByteSource source, ByteSource::from_file(fd));
  TRY(const ElfFile file, ElfFile::read(source));
  GoFile go;
  if (file.address_size() != 8 || file.machine() != EM_X86_64) return std::optional<GoFile>();
  go.build_info = range_of(file.section(".go.buildinfo"));
  TRY_VOID(read_table(file, go));
  if (go.table.bytes.empty()) return std::optional<GoFile>();
  go.data = range_of(file.section(".data"));
  for (const ElfSegment& segment : file.segments()) {
    const bool fits = segment.memory_size <= UINT64_MAX - segment.address;
    if (segment.type != PT_LOAD || !fits || go.segments.size() == kMostSegments) continue;
    go.segments.push_back(segment);
    if ((segment.flags & PF_W) == 0) continue;
    go.writable.push_back({segment.address, segment.address + segment.memory_size});
  }
  return std::optional<GoFile>(std::move(go));
}

}  // namespace offcpud
