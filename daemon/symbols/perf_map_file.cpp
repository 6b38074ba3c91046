// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_map_file.h"

#include <algorithm>

#include "elf/byte_source.h"

namespace offcpud {

std::optional<std::string_view> PerfMapFile::find(std::uint64_t address, MonotonicTime now) {
  if (!checked_at_ || now - *checked_at_ >= kInterval) (void)refresh(now);
  return map_.find(address);
}

Status PerfMapFile::refresh(MonotonicTime now) {
  checked_at_ = now;
  TRY(const FoundPerfMap found, finder_->find(process_));
  if (found.version == version_) return {};
  TRY(const ByteSource source, ByteSource::from_file(found.file.get()));
  const std::uint64_t size = std::min(source.size(), kMaxText);
  const auto text = source.read(source.size() - size, size, kMaxText);
  if (!text) return text.error();
  std::string_view lines(reinterpret_cast<const char*>(text->data()), text->size());
  // A copy has only the last bytes of a large file.
  const bool is_part = size < std::max(source.size(), found.version.size);
  if (is_part) lines.remove_prefix(std::min(lines.find('\n'), lines.size()));
  map_ = PerfMap(lines);
  is_truncated_ = is_part || map_.is_truncated();
  version_ = found.version;
  return {};
}

}  // namespace offcpud
