// SPDX-License-Identifier: Apache-2.0
#include "snapshot/stack_id.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "base/word_hash.h"

namespace offcpud {
namespace {

constexpr std::size_t kDigits = 16;
constexpr int kHexadecimal = 16;

void add(std::uint64_t& hash, unsigned char byte) {
  hash = hash_joined(hash, byte);
}

// Hashes the text as file formats store it, or a snapshot read back would have other ids; then an
// end mark that valid UTF-8 never contains.
void add(std::uint64_t& hash, const std::string& bytes) {
  for (const char c : to_valid_utf8(bytes)) add(hash, static_cast<unsigned char>(c));
  add(hash, 0xff);
}

void add(std::uint64_t& hash, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    add(hash, static_cast<unsigned char>(number >> shift));
  }
}

std::uint64_t hash_of(const StackFrame& frame) {
  std::uint64_t hash = kHashBasis;
  add(hash, frame.function);
  add(hash, frame.object);
  add(hash, static_cast<unsigned char>(frame.kernel ? 1 : 0));
  return hash;
}

}  // namespace

StackIds::StackIds(const Snapshot& snapshot) {
  frames_.reserve(snapshot.frames.size());
  for (const StackFrame& frame : snapshot.frames) frames_.push_back(hash_of(frame));
}

std::uint64_t StackIds::of(const StackEntry& entry) const {
  if (entry.user.empty() && entry.kernel.empty()) return 0;
  std::uint64_t hash = kHashBasis;
  for (const std::uint32_t frame : entry.user) add(hash, frames_[frame]);
  for (const std::uint32_t frame : entry.kernel) add(hash, frames_[frame]);
  return hash;
}

std::string stack_id_text(std::uint64_t id) {
  std::array<char, kDigits> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), id, kHexadecimal).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  return std::string(kDigits - text.size(), '0').append(text);
}

std::optional<std::uint64_t> parse_stack_id(std::string_view text) {
  std::uint64_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, id, kHexadecimal);
  if (text.size() != kDigits || code != std::errc{} || stop != end) return std::nullopt;
  return id;
}

}  // namespace offcpud
