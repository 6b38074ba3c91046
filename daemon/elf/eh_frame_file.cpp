// SPDX-License-Identifier: Apache-2.0
#include "elf/eh_frame_file.h"

#include <elf.h>

#include <algorithm>
#include <optional>

#include "elf/eh_frame.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kHeaderBytes = 12;  // .eh_frame_hdr before the search table
constexpr std::uint64_t kEntryBytes = 8;    // one entry of the search table

// Encodings of pointers (DW_EH_PE_*), from the Linux Standard Base.
constexpr std::uint8_t kUnsigned4 = 0x03;
constexpr std::uint8_t kSigned4 = 0x0b;
constexpr std::uint8_t kPcRelativeSigned4 = 0x1b;
constexpr std::uint8_t kTableRelativeSigned4 = 0x3b;

// The position of a section in the file and in memory.
struct Place {
  std::uint64_t offset = 0, address = 0, size = 0;
  bool exact_size = false;
};

// .eh_frame_hdr says where .eh_frame begins (LSB 10.6.2). It ends with the section that begins
// there or, without section headers, with its segment.
Result<std::optional<Place>> find_by_header(const ElfFile& file) {
  const ElfSegment* header = file.segment(std::uint32_t{PT_GNU_EH_FRAME});
  if (header == nullptr) return std::optional<Place>();
  TRY(const auto bytes, file.source().read_up_to(header->offset, kHeaderBytes));
  ByteReader reader(bytes);
  const auto version = reader.take<std::uint8_t>();
  const auto encoding = reader.take<std::uint8_t>();
  (void)reader.take<std::uint16_t>();
  const auto address = take_encoded(reader, encoding, header->address, file.address_size());
  if (version != 1 || !address) return std::optional<Place>();

  const auto segment = std::ranges::find_if(file.segments(), [&](const ElfSegment& s) {
    return s.type == PT_LOAD && *address >= s.address && *address - s.address < s.file_size;
  });
  if (segment == file.segments().end()) return std::optional<Place>();
  const std::uint64_t skipped = *address - segment->address;
  Place place{.offset = segment->offset + skipped,
              .address = *address,
              .size = segment->file_size - skipped};
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_NOBITS && section.type != SHT_NULL && section.address == *address &&
        section.size > 0) {
      place.size = section.size;
      place.exact_size = true;
    }
  }
  return std::optional(place);
}

std::optional<Place> find_by_name(const ElfFile& file) {
  const ElfSection* section = file.section(".eh_frame");
  if (section == nullptr) return std::nullopt;
  return Place{.offset = section->offset,
               .address = section->address,
               .size = section->size,
               .exact_size = true};
}

// Reads the entries of a search table that is loaded at `address`.
std::vector<AddressRange> read_entries(ByteReader& table, std::uint64_t address,
                                       const EhFrameSection& frames, std::size_t count) {
  const auto take_address = [&] {
    return address + static_cast<std::uint64_t>(std::int64_t{table.take<std::int32_t>()});
  };
  FdeWalk walk(frames);
  std::vector<AddressRange> ranges;
  ranges.reserve(std::min<std::size_t>(count, table.rest().size() / kEntryBytes));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t start = take_address();
    const std::uint64_t offset = take_address() - frames.address;
    if (!table.ok()) break;
    if (offset >= frames.bytes.size()) continue;
    const auto fde = walk.at(static_cast<std::uint32_t>(offset));
    if (!fde) continue;
    const std::uint64_t end = start + (fde->end - fde->begin);
    if (end > start) ranges.push_back({start, end});
  }
  return ranges;
}

}  // namespace

Result<EhFrame> read_eh_frame(const ElfFile& file) {
  TRY(auto place, find_by_header(file));
  if (!place) place = find_by_name(file);
  if (!place) return EhFrame();
  if (place->exact_size && place->size > kMaxEhFrame) {
    return Error("read object: its .eh_frame is longer than a program's", ErrorKind::Unsupported);
  }
  EhFrame frames{.bytes = {}, .address = place->address, .exact_size = place->exact_size};
  TRY(frames.bytes, file.source().read_up_to(place->offset, std::min(place->size, kMaxEhFrame)));
  return frames;
}

Result<std::vector<AddressRange>> read_frame_ranges(const ElfFile& file, std::size_t most) {
  const std::vector<AddressRange> none;
  const ElfSegment* segment = file.segment(std::uint32_t{PT_GNU_EH_FRAME});
  if (segment == nullptr) return none;
  const std::uint64_t limit = kHeaderBytes + most * kEntryBytes;
  TRY(const auto bytes,
      file.source().read(segment->offset, std::min(segment->file_size, limit), limit));
  ByteReader table(bytes);
  const auto version = table.take<std::uint8_t>();
  const auto frames_encoding = table.take<std::uint8_t>();
  const auto count_format = static_cast<std::uint8_t>(table.take<std::uint8_t>() & kPointerFormat);
  const auto table_encoding = table.take<std::uint8_t>();
  // Accepts only the form that linkers write and glibc searches.
  if (version != 1 || frames_encoding != kPcRelativeSigned4 ||
      table_encoding != kTableRelativeSigned4 ||
      (count_format != kUnsigned4 && count_format != kSigned4)) {
    return none;
  }
  (void)table.take<std::int32_t>();  // address of .eh_frame
  const auto count = table.take<std::uint32_t>();
  if (!table.ok()) return Error("read object: its table of frames is cut short");
  if (count > most) {
    return Error("read object: more frames than a program's", ErrorKind::Unsupported);
  }
  TRY(const EhFrame frames, read_eh_frame(file));
  return read_entries(table, segment->address,
                      {.bytes = frames.bytes,
                       .address = frames.address,
                       .exact_size = frames.exact_size,
                       .address_size = file.address_size()},
                      count);
}

}  // namespace offcpud
