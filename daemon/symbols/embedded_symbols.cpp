// SPDX-License-Identifier: Apache-2.0
#include "symbols/embedded_symbols.h"

#include <lzma.h>

#include <cstdint>
#include <memory>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxCompressed = 16 << 20;
constexpr std::size_t kMaxPlain = 64 << 20;
constexpr std::uint64_t kMaxDecoder = 32 << 20;  // a dictionary of 8 MiB is usual

}  // namespace

std::optional<std::string> read_embedded_symbols(const ElfFile& object) {
  const ElfSection* section = object.section(".gnu_debugdata");
  if (section == nullptr) return std::nullopt;
  const auto compressed = object.source().read(section->offset, section->size, kMaxCompressed);
  if (!compressed) return std::nullopt;

  lzma_stream stream = LZMA_STREAM_INIT;
  const std::unique_ptr<lzma_stream, decltype(&::lzma_end)> owner(&stream, &::lzma_end);
  if (::lzma_stream_decoder(&stream, kMaxDecoder, 0) != LZMA_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(compressed->data());
  stream.avail_in = compressed->size();

  std::string plain;
  for (std::size_t step = 256 << 10; plain.size() < kMaxPlain; step = plain.size()) {
    const std::size_t done = plain.size();
    plain.resize(done + step);
    stream.next_out = reinterpret_cast<std::uint8_t*>(plain.data()) + done;
    stream.avail_out = step;
    const lzma_ret result = ::lzma_code(&stream, LZMA_FINISH);
    plain.resize(done + step - stream.avail_out);
    if (result == LZMA_STREAM_END) return plain;
    if (result != LZMA_OK || stream.avail_out > 0) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace offcpud
