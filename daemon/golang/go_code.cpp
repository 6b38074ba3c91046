// SPDX-License-Identifier: Apache-2.0
#include "golang/go_code.h"

#include <algorithm>
#include <set>

#include "reader/memory_words.h"

namespace offcpud {
namespace {

// Opcodes and ModRM: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
constexpr std::uint8_t kLoad = 0x8b, kStore = 0x89, kAddress = 0x8d, kStoreByte = 0x88;
constexpr std::uint8_t kTwoBytes = 0x0f, kLoadByte = 0xb6;
constexpr std::size_t kDistance = 4;  // bytes of a displacement
constexpr std::size_t kMostVariables = 32;
// Fields nearer to the beginning of a struct have a displacement of one byte, and no struct that
// is read here is larger.
constexpr std::uint32_t kNearest = 128, kFarthest = 512;

class CodeBytes {
 public:
  explicit CodeBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint8_t at(std::size_t offset) const {
    return value_at<std::uint8_t>(bytes_, offset);
  }
  // For an operand of the form 0x90(AX), whose ModRM byte is at `offset`: the displacement, if it
  // may be that of a field.
  [[nodiscard]] std::optional<std::uint32_t> field(std::size_t offset) const {
    const std::uint8_t operand = at(offset);
    const bool is_distant = operand >> 6U == 2;
    const bool is_indexed = (operand & 7U) == 4;
    if (!is_distant || is_indexed || offset + 1 + kDistance > bytes_.size()) return std::nullopt;
    const auto found = value_at<std::uint32_t>(bytes_, offset + 1);
    if (found < kNearest || found > kFarthest) return std::nullopt;
    return found;
  }
  // For an operand of the form name(SB).
  [[nodiscard]] std::optional<std::uint64_t> variable(std::size_t offset, std::uint64_t at) const {
    if ((this->at(offset) & 0xc7U) != 0x05) return std::nullopt;
    if (offset + 1 + kDistance > bytes_.size()) return std::nullopt;
    const auto distance = static_cast<std::int64_t>(value_at<std::int32_t>(bytes_, offset + 1));
    return at + offset + 1 + kDistance + static_cast<std::uint64_t>(distance);
  }
  // Whether the instruction that begins with this prefix has an operand of 8 bytes.
  [[nodiscard]] static bool is_wide(std::uint8_t prefix) { return (prefix & 0xf8U) == 0x48; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<std::uint64_t> variables_in(std::span<const std::byte> code, std::uint64_t at) {
  const CodeBytes bytes(code);
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i + 2 < bytes.size() && found.size() < kMostVariables; ++i) {
    const std::uint8_t opcode = bytes.at(i + 1);
    const bool fits = opcode == kLoad || opcode == kStore || opcode == kAddress;
    if (!fits || !CodeBytes::is_wide(bytes.at(i))) continue;
    const auto variable = bytes.variable(i + 2, at);
    if (variable && std::ranges::find(found, *variable) == found.end()) found.push_back(*variable);
  }
  return found;
}

std::optional<std::uint32_t> first_field_in(std::span<const std::byte> code) {
  const CodeBytes bytes(code);
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes.at(i) != kLoad || (i > 0 && CodeBytes::is_wide(bytes.at(i - 1)))) continue;
    if (const auto field = bytes.field(i + 1)) return field;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> counter_in(std::span<const std::byte> code) {
  const CodeBytes bytes(code);
  std::set<std::uint32_t> loaded;
  std::set<std::uint32_t> counted;
  for (std::size_t i = 0; i + 2 < bytes.size(); ++i) {
    if (bytes.at(i) == kTwoBytes && bytes.at(i + 1) == kLoadByte) {
      if (const auto field = bytes.field(i + 2)) loaded.insert(*field);
    } else if (bytes.at(i) == kStoreByte) {
      const auto field = bytes.field(i + 1);
      if (field && loaded.contains(*field)) counted.insert(*field);
    }
  }
  if (counted.size() != 1) return std::nullopt;
  return *counted.begin();
}

}  // namespace offcpud
