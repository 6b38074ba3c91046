// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_object.h"

#include <elf.h>

#include <utility>

namespace offcpud {
namespace {

constexpr std::size_t kMaxCodeSegments = 64;

Status add_segments(const ElfFile& file, ElfObject& object) {
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_LOAD || !(segment.flags & PF_X) || segment.file_size == 0) continue;
    if (segment.file_size > UINT64_MAX - segment.address ||
        object.segments.size() == kMaxCodeSegments) {
      return Error("an ELF file with unusable segments", ErrorKind::Unsupported);
    }
    object.segments.push_back(
        {.file_offset = segment.offset, .address = segment.address, .size = segment.file_size});
  }
  return {};
}

// Replaces ErrorKind::Unsupported (beyond the limits) by an empty result, and sets `is_truncated`.
template <class T>
Result<T> or_truncated(Result<T> read, bool& is_truncated) {
  if (read || read.error().kind() != ErrorKind::Unsupported) return read;
  is_truncated = true;
  return T();
}

}  // namespace

Result<ElfObject> read_elf_object(int fd) {
  TRY(const ByteSource source, ByteSource::from_file(fd));
  TRY(const ElfFile file, ElfFile::read(source));
  if (file.address_size() != 8 || file.machine() != EM_X86_64 ||
      (file.type() != ET_EXEC && file.type() != ET_DYN)) {
    return Error("not a program or shared object for x86-64", ErrorKind::Unsupported);
  }
  if (file.segments().empty()) {
    return Error("an ELF file without usable program headers", ErrorKind::Unsupported);
  }
  ElfObject object;
  TRY_VOID(add_segments(file, object));
  TRY(auto frames, or_truncated(read_eh_frame(file), object.is_truncated));
  object.eh_frame = std::move(frames.bytes);
  object.eh_frame_address = frames.address;
  object.exact_size = frames.exact_size;
  TRY(auto go, or_truncated(read_go_section(file, kMaxUnwindSections - object.eh_frame.size()),
                            object.is_truncated));
  object.go_table = std::move(go.bytes);
  object.go_program = go.program;
  return object;
}

}  // namespace offcpud
