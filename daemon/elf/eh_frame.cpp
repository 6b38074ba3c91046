// SPDX-License-Identifier: Apache-2.0
#include "elf/eh_frame.h"

#include <algorithm>
#include <cstddef>

namespace offcpud {
namespace {

// Parts of DW_EH_PE_* beside the format.
constexpr std::uint8_t kRelativeTo = 0x70;
constexpr std::uint8_t kRelativeToItself = 0x10;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kOmitted = 0xff;

constexpr std::uint32_t kIsWide = 0xffffffff;
// Enough for "zPLRS" and vendors' additions. The limit bounds the work per record.
constexpr std::size_t kMaxAugmentation = 15;

// The length of a record, which is the number of bytes that follow it.
std::uint64_t take_length(ByteReader& reader) {
  const auto length = reader.take<std::uint32_t>();
  return length == kIsWide ? reader.take<std::uint64_t>() : length;
}

// Always inlined, as take_pointer() is: a reader passed by reference is kept in memory rather than
// in registers, and reading an FDE then takes a third longer.
[[gnu::always_inline]] inline std::optional<std::uint64_t> take_value(ByteReader& reader,
                                                                      std::uint8_t format,
                                                                      std::size_t address_size) {
  switch (format) {
    case 0x00:  // absptr
      if (address_size == 4) return reader.take<std::uint32_t>();
      [[fallthrough]];
    case 0x04:  // udata8
    case 0x0c:  // sdata8
      return reader.take<std::uint64_t>();
    case 0x01:
      return reader.take_uleb();
    case 0x02:
      return reader.take<std::uint16_t>();
    case 0x03:
      return reader.take<std::uint32_t>();
    case 0x09:
      return static_cast<std::uint64_t>(reader.take_sleb());
    case 0x0a:
      return static_cast<std::uint64_t>(std::int64_t{reader.take<std::int16_t>()});
    case 0x0b:
      return static_cast<std::uint64_t>(std::int64_t{reader.take<std::int32_t>()});
    default:
      return std::nullopt;
  }
}

[[gnu::always_inline]] inline std::optional<std::uint64_t> take_pointer(ByteReader& reader,
                                                                        std::uint8_t encoding,
                                                                        std::uint64_t address,
                                                                        std::size_t address_size) {
  if (encoding == kOmitted || (encoding & kIndirect)) return std::nullopt;
  const std::uint64_t here = address + reader.position();
  auto value = take_value(reader, encoding & kPointerFormat, address_size);
  if (!value || !reader.ok()) return std::nullopt;
  switch (encoding & kRelativeTo) {
    case 0:
      return value;
    case kRelativeToItself:
      return *value + here;
    default:
      return std::nullopt;
  }
}

// Reads the augmentation of a CIE (LSB 10.6.1.1.1). False: a part of it is unknown.
bool read_augmentation(ByteReader& reader, Bytes names, std::size_t address_size, Cie& cie) {
  if (names.empty()) return true;
  if (names[0] != 'z') return false;  // without a size, it cannot be skipped
  cie.has_augmentation_data = true;
  ByteReader data(reader.take_bytes(reader.take_uleb()));
  for (const std::uint8_t name : names.subspan(1)) {
    switch (name) {
      case 'R':
        cie.pointer_encoding = data.take<std::uint8_t>();
        break;
      case 'L':
        (void)data.take<std::uint8_t>();
        break;
      case 'P':  // the personality routine: skipped
        if (const auto format = data.take<std::uint8_t>();
            !take_value(data, format & kPointerFormat, address_size) && format != kOmitted) {
          return false;
        }
        break;
      case 'S':
        cie.signal_frame = true;
        break;
      case 'B':  // AArch64 only; it has no data
        break;
      default:
        return reader.ok();  // unknown, but of known size (LSB)
    }
  }
  return reader.ok() && data.ok();
}

}  // namespace

std::optional<std::uint64_t> take_encoded(ByteReader& reader, std::uint8_t encoding,
                                          std::uint64_t address, std::size_t address_size) {
  return take_pointer(reader, encoding, address, address_size);
}

std::optional<Cie> read_cie(const EhFrameSection& section, std::uint32_t offset) {
  if (offset >= section.bytes.size()) return std::nullopt;
  ByteReader reader(section.bytes.subspan(offset));
  ByteReader record(reader.take_bytes(take_length(reader)));
  if (record.take<std::uint32_t>() != 0) return std::nullopt;  // an FDE
  const auto version = record.take<std::uint8_t>();
  if (!record.ok() || (version != 1 && version != 3 && version != 4)) return std::nullopt;

  const Bytes rest = record.rest();
  const Bytes candidates = rest.first(std::min(rest.size(), kMaxAugmentation + 1));
  const auto terminator = std::find(candidates.begin(), candidates.end(), 0);
  if (terminator == candidates.end()) return std::nullopt;
  const Bytes names =
      record.take_bytes(static_cast<std::uint64_t>(terminator - candidates.begin()));
  (void)record.take<std::uint8_t>();
  if (version == 4) (void)record.take<std::uint16_t>();  // sizes of addresses and selectors

  Cie cie;
  cie.code_alignment = record.take_uleb();
  cie.data_alignment = record.take_sleb();
  cie.return_register = version == 1 ? record.take<std::uint8_t>() : record.take_uleb();
  if (!read_augmentation(record, names, section.address_size, cie) || !record.ok())
    return std::nullopt;
  cie.instructions = record.rest();
  return cie;
}

const Cie* FdeWalk::cie_at(std::uint32_t offset) {
  KnownCie& known = cies_[offset / 4 % cies_.size()];
  if (known.offset != offset) known = {.offset = offset, .cie = read_cie(section_, offset)};
  return known.cie ? &*known.cie : nullptr;
}

std::optional<Fde> FdeWalk::read_fde(std::size_t id_offset, std::uint32_t distance,
                                     std::size_t end) {
  if (distance > id_offset) return std::nullopt;
  const auto cie_offset = static_cast<std::uint32_t>(id_offset - distance);
  const Cie* cie = cie_at(cie_offset);
  if (!cie) return std::nullopt;

  ByteReader record(section_.bytes.first(end));  // from 0 on: positions become addresses
  (void)record.take_bytes(id_offset + sizeof(distance));
  const auto begin =
      take_pointer(record, cie->pointer_encoding, section_.address, section_.address_size);
  const auto size =
      take_pointer(record, cie->pointer_encoding & kPointerFormat, 0, section_.address_size);
  if (!begin || !size) return std::nullopt;
  if (cie->has_augmentation_data) (void)record.take_bytes(record.take_uleb());
  if (!record.ok()) return std::nullopt;

  Fde fde{.begin = *begin, .end = *begin, .cie_offset = cie_offset, .instructions = record.rest()};
  // The linker leaves an FDE at address 0 or of size 0 for a function that it dropped.
  if (fde.begin == 0 || *size > UINT64_MAX - fde.begin) return fde;
  fde.end += *size;
  return fde;
}

std::optional<Fde> FdeWalk::at(std::uint32_t offset) {
  ByteReader reader(section_.bytes);
  (void)reader.take_bytes(offset);
  const std::uint64_t length = take_length(reader);
  const std::size_t id_offset = reader.position();
  ByteReader record(reader.take_bytes(length));
  const auto distance = record.take<std::uint32_t>();
  if (!reader.ok() || !record.ok()) return std::nullopt;
  auto fde = read_fde(id_offset, distance, reader.position());
  if (fde) fde->offset = offset;
  return fde;
}

std::optional<Fde> FdeWalk::next() {
  while (!reader_.at_end()) {
    const auto offset = static_cast<std::uint32_t>(reader_.position());
    const std::uint64_t length = take_length(reader_);
    if (length == 0) {
      if (!section_.exact_size) return std::nullopt;
      continue;  // several object files each have a terminator
    }
    const std::size_t id_offset = reader_.position();
    ByteReader record(reader_.take_bytes(length));
    const auto distance = record.take<std::uint32_t>();
    if (!reader_.ok() || !record.ok()) {  // the start of the next record is unknown
      broken_++;
      return std::nullopt;
    }
    if (distance == 0) continue;  // a CIE
    auto fde = read_fde(id_offset, distance, reader_.position());
    if (!fde) {
      broken_++;
    } else if (fde->begin < fde->end) {
      fde->offset = offset;
      return fde;
    }
  }
  return std::nullopt;
}

}  // namespace offcpud
