// SPDX-License-Identifier: Apache-2.0
#include "elf/frame_ranges.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxFrames = 32 << 20;  // libLLVM has 7 MiB, browsers 20
constexpr std::uint64_t kHeaderBytes = 12;      // of .eh_frame_hdr, before the search table
constexpr std::uint64_t kEntryBytes = 8;        // of the search table
// Of a CIE, as far as the encoding of its addresses. Its numbers and names could go on for ever,
// and each FDE can bring another one.
constexpr std::size_t kMaxCie = 128;

// Encodings of pointers (DW_EH_PE_*), as the Linux Standard Base lists them.
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kPcRelativeSigned4 = 0x1b;
constexpr std::uint8_t kTableRelativeSigned4 = 0x3b;

// Reads little by little from bytes that may end anywhere; once they do, every value is nothing.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> take() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value{};
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  bool skip(std::size_t size) {
    if (bytes_.size() < size) return false;
    bytes_.remove_prefix(size);
    return true;
  }
  // LEB128 of either sign.
  bool skip_leb() {
    for (auto byte = take<std::uint8_t>(); byte; byte = take<std::uint8_t>()) {
      if ((*byte & 0x80U) == 0) return true;
    }
    return false;
  }
  std::optional<std::string_view> take_string() {
    const std::size_t length = bytes_.find('\0');
    if (length == std::string_view::npos) return std::nullopt;
    const std::string_view text = bytes_.substr(0, length);
    bytes_.remove_prefix(length + 1);
    return text;
  }

 private:
  std::string_view bytes_;
};

// Bytes that a pointer of this encoding takes; 0 for those of variable or unknown size.
std::size_t encoded_size(std::uint8_t encoding, std::size_t address_size) {
  switch (encoding & kFormat) {
    case 0x00:
    case 0x08:
      return address_size;
    case 0x02:
    case 0x0a:
      return 2;
    case 0x03:
    case 0x0b:
      return 4;
    case 0x04:
    case 0x0c:
      return 8;
    default:
      return 0;
  }
}

// How the CIE at `offset` of .eh_frame encodes the addresses of its FDEs; kOmitted if it cannot be
// read.
std::uint8_t address_encoding(std::string_view frames, std::uint64_t offset,
                              std::size_t address_size) {
  if (offset >= frames.size()) return kOmitted;
  Cursor cie(frames.substr(offset, kMaxCie));
  const auto length = cie.take<std::uint32_t>();
  const auto id = cie.take<std::uint32_t>();
  const auto version = cie.take<std::uint8_t>();
  const auto augmentation = cie.take_string();
  if (!length || id != 0U || !version || !augmentation) return kOmitted;
  if (*version != 1 && *version != 3) return kOmitted;
  if (!cie.skip_leb()) return kOmitted;                                 // alignment of code
  if (!cie.skip_leb()) return kOmitted;                                 // alignment of data
  if (*version == 1 ? !cie.skip(1) : !cie.skip_leb()) return kOmitted;  // return address register
  if (augmentation->empty()) return 0x00;
  if (augmentation->front() != 'z' || !cie.skip_leb()) return kOmitted;

  for (const char letter : augmentation->substr(1)) {
    if (letter == 'S' || letter == 'B') continue;  // no data
    const auto encoding = cie.take<std::uint8_t>();
    if (!encoding) return kOmitted;
    if (letter == 'R') return *encoding;
    if (letter == 'L') continue;
    if (letter != 'P') return kOmitted;
    const std::size_t size = encoded_size(*encoding, address_size);
    if (size == 0 || !cie.skip(size)) return kOmitted;
  }
  return 0x00;
}

// .eh_frame with the CIEs seen so far: thousands of FDEs share a few of them.
class FrameSection {
 public:
  FrameSection(std::string_view bytes, std::size_t address_size)
      : bytes_(bytes), address_size_(address_size) {}

  // How many bytes of code the FDE at `offset` describes.
  std::optional<std::uint64_t> code_size(std::uint64_t offset) {
    if (offset >= bytes_.size()) return std::nullopt;
    Cursor fde(bytes_.substr(offset));
    const auto length = fde.take<std::uint32_t>();
    const auto back_to_cie = fde.take<std::uint32_t>();
    if (!length || *length == 0xffffffff || !back_to_cie || *back_to_cie == 0) return std::nullopt;
    if (*back_to_cie > offset + 4) return std::nullopt;
    const std::uint8_t encoding = encoding_of(offset + 4 - *back_to_cie);
    if (encoding == kOmitted) return std::nullopt;
    const std::size_t size = encoded_size(encoding, address_size_);
    if (size == 0 || !fde.skip(size)) return std::nullopt;
    if (size == 8) return fde.take<std::uint64_t>();
    if (size == 4) return fde.take<std::uint32_t>();
    return fde.take<std::uint16_t>();
  }

 private:
  struct Known {
    std::uint64_t cie = UINT64_MAX;
    std::uint8_t encoding = kOmitted;
  };

  std::uint8_t encoding_of(std::uint64_t cie) {
    Known& known = known_[cie / 4 % known_.size()];
    if (known.cie != cie) known = {cie, address_encoding(bytes_, cie, address_size_)};
    return known.encoding;
  }

  std::string_view bytes_;
  std::size_t address_size_;
  // Each in one place, where another may drive it out: a section can have millions.
  std::array<Known, 256> known_;
};

Error too_much() {
  return Error("read object: more frames than a program's", ErrorKind::Unsupported);
}

// The bytes from `address` to the end of its section, or of its segment in a file without sections.
Result<std::string> read_from(const ElfFile& file, std::uint64_t address) {
  for (const ElfSection& section : file.sections()) {
    if (section.type == SHT_NOBITS || (section.flags & SHF_ALLOC) == 0) continue;
    if (address < section.address || address - section.address >= section.size) continue;
    const std::uint64_t skipped = address - section.address;
    if (section.size - skipped > kMaxFrames) return too_much();
    return file.source().read(section.offset + skipped, section.size - skipped, kMaxFrames);
  }
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_LOAD || address < segment.address) continue;
    const std::uint64_t skipped = address - segment.address;
    if (skipped >= segment.file_size) continue;
    // What follows the frames is not theirs.
    const std::uint64_t size = std::min(segment.file_size - skipped, kMaxFrames);
    return file.source().read(segment.offset + skipped, size, kMaxFrames);
  }
  return Error("read object: its table of frames is in no section");
}

// `header` is the content of .eh_frame_hdr, which is loaded at `address`.
Result<std::vector<AddressRange>> read_search_table(const ElfFile& file, std::string_view header,
                                                    std::uint64_t address, std::size_t most) {
  Cursor table(header);
  const auto version = table.take<std::uint8_t>();
  const auto frames_encoding = table.take<std::uint8_t>();
  const auto count_encoding = table.take<std::uint8_t>();
  const auto table_encoding = table.take<std::uint8_t>();
  // The one form that linkers write, and glibc searches.
  if (version != 1 || frames_encoding != kPcRelativeSigned4 ||
      table_encoding != kTableRelativeSigned4 ||
      encoded_size(count_encoding.value_or(kOmitted), 8) != 4) {
    return std::vector<AddressRange>{};
  }
  const auto to_frames = table.take<std::int32_t>();
  const auto count = table.take<std::uint32_t>();
  if (!to_frames || !count) return Error("read object: its table of frames is cut short");
  const auto relative = [&](std::int32_t distance) {
    return address + static_cast<std::uint64_t>(std::int64_t{distance});
  };
  if (*count > most) return too_much();
  const std::uint64_t frames_address = relative(*to_frames) + 4;
  const auto bytes = read_from(file, frames_address);
  if (!bytes) return bytes.error();

  FrameSection frames(*bytes, file.address_size());
  std::vector<AddressRange> ranges;
  ranges.reserve(std::min<std::size_t>(*count, header.size() / kEntryBytes));
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto start = table.take<std::int32_t>();
    const auto frame = table.take<std::int32_t>();
    if (!start || !frame) break;
    const auto size = frames.code_size(relative(*frame) - frames_address);
    const std::uint64_t first = relative(*start);
    if (size && first + *size > first) ranges.push_back({first, first + *size});
  }
  return ranges;
}

}  // namespace

Result<std::vector<AddressRange>> read_frame_ranges(const ElfFile& file, std::size_t most) {
  const ElfSegment* segment = file.segment(std::uint32_t{PT_GNU_EH_FRAME});
  if (segment == nullptr) return std::vector<AddressRange>{};
  const std::uint64_t limit = kHeaderBytes + most * kEntryBytes;
  const std::uint64_t size = std::min(segment->file_size, limit);
  const auto header = file.source().read(segment->offset, size, limit);
  if (!header) return header.error();
  return read_search_table(file, *header, segment->address, most);
}

}  // namespace offcpud
