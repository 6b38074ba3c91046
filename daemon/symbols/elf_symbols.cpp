// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "elf/byte_source.h"
#include "elf/eh_frame_file.h"
#include "elf/elf_file.h"
#include "elf/vdso.h"
#include "symbols/debug_file.h"
#include "symbols/embedded_symbols.h"
#include "symbols/go_symbols.h"
#include "symbols/jumped_code.h"
#include "symbols/symbol_table.h"

namespace offcpud {
namespace {

std::vector<AddressRange> code_of(const ElfFile& file) {
  std::vector<AddressRange> code;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) != 0) {
      code.push_back({section.address, section.address + section.size});
    }
  }
  if (!code.empty()) return code;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
      code.push_back({segment.address, segment.address + segment.memory_size});
    }
  }
  return code;
}

}  // namespace

Result<ElfSymbols> ElfSymbols::read(int fd, const std::vector<DebugRoot>& debug_roots) {
  TRY(const ByteSource source, ByteSource::from_file(fd));
  return read_from(source, debug_roots, fd);
}

Result<ElfSymbols> ElfSymbols::read_image(std::string_view image) {
  return read_from(ByteSource(image), {}, -1);
}

Result<ElfSymbols> ElfSymbols::read_vdso() {
  TRY(const std::string_view image, vdso_image());
  return read_image(image);
}

Result<ElfSymbols> ElfSymbols::read_from(const ByteSource& source,
                                         const std::vector<DebugRoot>& debug_roots, int fd) {
  TRY(const ElfFile file, ElfFile::read(source));
  ElfSymbols symbols;
  symbols.build_id_ = file.build_id();
  symbols.keep_segments(file);

  // First, so that its tables are freed before the names are read.
  SymbolLimits limits;
  auto frames = read_frame_ranges(file, limits.frames);
  if (!frames && frames.error().kind() == ErrorKind::Unsupported) {
    symbols.refused_.add(ObjectRefusal::Frames);
  }
  if (frames) limits.ranges -= frames->size();

  FunctionList list(limits);
  symbols.add_functions(file, list);
  if (file.section(std::uint32_t{SHT_SYMTAB}) == nullptr) {
    if (!add_go_functions(file, list)) symbols.refused_.add(ObjectRefusal::GoTable);
    symbols.add_embedded_functions(file, list);
    symbols.add_debug_functions(file, fd, debug_roots, list);
    if (frames) add_jumped_code(file, *frames, list);
  }
  symbols.functions_ = FunctionIndex(
      std::move(list), frames ? *std::move(frames) : std::vector<AddressRange>{}, code_of(file));
  return symbols;
}

// A damaged table only loses its own names.
void ElfSymbols::add_functions(const ElfFile& file, FunctionList& list) {
  const auto read = read_functions(file, list);
  if (!read && read.error().kind() == ErrorKind::Unsupported) refused_.add(ObjectRefusal::Symbols);
}

// Adds the functions missing from .dynsym, if the object embeds them.
void ElfSymbols::add_embedded_functions(const ElfFile& object, FunctionList& list) {
  const auto image = read_embedded_symbols(object);
  if (!image) return refused_.add(ObjectRefusal::EmbeddedSymbols);
  if (!*image) return;
  const ByteSource source(**image);
  const auto file = ElfFile::read(source);
  if (file) add_functions(*file, list);
}

// Adds the functions of the debug file, if it can be found and read.
void ElfSymbols::add_debug_functions(const ElfFile& object, int object_fd,
                                     const std::vector<DebugRoot>& debug_roots,
                                     FunctionList& list) {
  for (const DebugRoot& place : debug_roots) {
    const auto fd =
        find_debug_file(object, author_of(object_fd, *place.root), place.object_path, *place.root);
    if (!fd) continue;
    const auto source = ByteSource::from_file(fd->get());
    if (!source) continue;
    const auto file = ElfFile::read(*source);
    if (file) return add_functions(*file, list);
  }
}

void ElfSymbols::keep_segments(const ElfFile& file) {
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_LOAD) continue;
    segments_.push_back(
        {segment.offset, segment.file_size, segment.address, (segment.flags & PF_X) != 0});
  }
  std::stable_partition(segments_.begin(), segments_.end(),
                        [](const LoadedSegment& segment) { return segment.executable; });
}

std::optional<std::uint64_t> ElfSymbols::address_of(std::uint64_t file_offset) const {
  for (const LoadedSegment& segment : segments_) {
    if (file_offset >= segment.offset && file_offset - segment.offset < segment.size) {
      return file_offset - segment.offset + segment.address;
    }
  }
  return std::nullopt;
}

std::size_t ElfSymbols::bytes() const {
  return sizeof(*this) + functions_.bytes() + segments_.capacity() * sizeof(LoadedSegment);
}

}  // namespace offcpud
