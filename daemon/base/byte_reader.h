// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace offcpud {

using Bytes = std::span<const std::uint8_t>;

// Reads values from the front of untrusted bytes, little-endian, as x86-64 is. A read beyond the
// end returns 0, and ok() is false from then on, so a caller may check once after several reads.
// Does not own the bytes.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] Bytes rest() const { return bytes_.subspan(position_); }

  // Every bit pattern must be a valid T. Booleans and enumerations have functions of their own.
  // Take a struct that contains one of these, or a size, field by field.
  template <class T>
  T take() {
    static_assert(!std::is_enum_v<T> && !std::is_same_v<T, bool>);
    T value{};
    const Bytes from = take_bytes(sizeof(T));
    if (from.size() == sizeof(T)) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }

  // Anything but 0 and 1 is refused.
  bool take_bool() {
    const auto byte = take<std::uint8_t>();
    if (byte > 1) refuse();
    return byte == 1;
  }

  // Takes a value of an enumeration without gaps from 0 to `last`. Anything else is refused.
  template <class Enum>
  Enum take_enum(Enum last) {
    const auto value = take<std::make_unsigned_t<std::underlying_type_t<Enum>>>();
    if (std::cmp_less_equal(value, static_cast<std::underlying_type_t<Enum>>(last))) {
      return static_cast<Enum>(value);
    }
    refuse();
    return Enum{};
  }

  // Call it if what was taken is invalid: ok() is false, and reads return 0 from then on.
  void refuse() {
    ok_ = false;
    position_ = bytes_.size();
  }

  // Returns no bytes, and ok() is false, if fewer than `count` are left.
  Bytes take_bytes(std::uint64_t count) {
    if (count > bytes_.size() - position_) {
      refuse();
      return {};
    }
    const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  // LEB128 (DWARF 5, section 7.6); bits above the 64th are dropped. Padding is accepted up to
  // kMaxLebBits: if each number had megabytes of it, reading them all would take hours.
  std::uint64_t take_uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      if (shift == kMaxLebBits) ok_ = false;
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if (!(byte & 0x80)) break;
    }
    return value;
  }
  std::int64_t take_sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; ok_;) {
      if (shift == kMaxLebBits) ok_ = false;
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift < 64) value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }

 private:
  static constexpr unsigned kMaxLebBits = 7 * 32;

  Bytes bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace offcpud
