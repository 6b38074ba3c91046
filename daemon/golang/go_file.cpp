// SPDX-License-Identifier: Apache-2.0
#include "golang/go_file.h"

#include <elf.h>

#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostSegments = 64;

AddressRange range_of(const ElfSection* section) {
  if (section == nullptr || section->size > UINT64_MAX - section->address) return {};
  return {section->address, section->address + section->size};
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
  TRY(go.table, read_go_section(file));
  if (go.table.bytes.empty()) {
    TRY(go.table, find_go_section(file));
  }
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
