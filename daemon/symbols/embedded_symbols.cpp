// SPDX-License-Identifier: Apache-2.0
#include "symbols/embedded_symbols.h"

#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxCompressed = 8 << 20;
constexpr std::uint64_t kMaxPlain = 24 << 20;
constexpr std::uint64_t kMaxDecoder = 16 << 20;  // a dictionary of 8 MiB is usual
// Real symbols shrink to a third or an eighth; only repetitions shrink more than this.
constexpr std::uint64_t kMaxRatio = 64;
constexpr std::uint64_t kAnyway = 256 << 10;

Error too_much_embedded() {
  return Error("read object: more embedded symbols than any program has", ErrorKind::Unsupported);
}

}  // namespace

Result<std::optional<std::string>> read_embedded_symbols(const ElfFile& object) {
  std::optional<std::string> none;
  const ElfSection* section = object.section(".gnu_debugdata");
  if (section == nullptr) return none;
  if (section->size > kMaxCompressed) return too_much_embedded();
  const auto compressed = object.source().read(section->offset, section->size, kMaxCompressed);
  if (!compressed) return none;

  lzma_stream stream = LZMA_STREAM_INIT;
  const std::unique_ptr<lzma_stream, decltype(&::lzma_end)> owner(&stream, &::lzma_end);
  if (::lzma_stream_decoder(&stream, kMaxDecoder, 0) != LZMA_OK) return none;
  stream.next_in = compressed->data();
  stream.avail_in = compressed->size();

  const std::uint64_t most = std::min(kMaxPlain, kAnyway + kMaxRatio * compressed->size());
  std::string plain;
  plain.reserve(most);  // only what is used takes memory, and nothing is moved
  while (plain.size() < most) {
    const std::size_t done = plain.size();
    const std::size_t step = std::min<std::uint64_t>(kAnyway, most - done);
    plain.resize(done + step);
    stream.next_out = reinterpret_cast<std::uint8_t*>(plain.data()) + done;
    stream.avail_out = step;
    const lzma_ret result = ::lzma_code(&stream, LZMA_FINISH);
    plain.resize(done + step - stream.avail_out);
    if (result == LZMA_STREAM_END) return std::optional(std::move(plain));
    if (result == LZMA_MEMLIMIT_ERROR) return too_much_embedded();
    if (result != LZMA_OK || stream.avail_out > 0) return none;
  }
  return too_much_embedded();
}

}  // namespace offcpud
