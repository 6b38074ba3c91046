// SPDX-License-Identifier: Apache-2.0
#include "jit/hotspot_code.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "symbols/demangle.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kMostHeaps = 16;
constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 22;
constexpr std::uint32_t kMostFrameWords = 1 << 16;
constexpr std::size_t kKindBytes = 48;
constexpr std::size_t kSymbolBytes = 192;  // of a name, enough for rules

// CodeHeap::_segmap has 0 where a block begins, else how far back to look for its beginning.
constexpr std::byte kBegin{0};

}  // namespace

std::string java_method_name(std::string_view class_name, std::string_view method) {
  std::string name(class_name.substr(0, std::min(class_name.find("+0x"), class_name.find("/0x"))));
  std::ranges::replace(name, '/', '.');
  return shown_name(name.append(".").append(method));
}

std::vector<HotspotCode::Heap> HotspotCode::heaps(const MemoryWords& memory) const {
  const auto array = memory.read<std::uint64_t>(layout_.code_heaps).value_or(0);
  const auto count = memory.read<std::uint32_t>(array + layout_.array_length).value_or(0);
  const auto data = memory.read<std::uint64_t>(array + layout_.array_data).value_or(0);
  std::vector<Heap> heaps;
  for (std::uint32_t i = 0; i < std::min(count, kMostHeaps); ++i) {
    const auto at = memory.read<std::uint64_t>(data + 8 * std::uint64_t{i}).value_or(0);
    const std::uint64_t space = at + layout_.heap_memory;
    const auto low = memory.read<std::uint64_t>(space + layout_.space_low);
    const auto high = memory.read<std::uint64_t>(space + layout_.space_high);
    const auto segments =
        memory.read<std::uint64_t>(at + layout_.heap_segments + layout_.space_low);
    const auto shift = memory.read<std::uint32_t>(at + layout_.heap_segment_shift);
    if (!low || !high || !segments || !shift || *low >= *high || *shift > 20) continue;
    if ((*high - *low) >> *shift > kMostSegments) continue;
    heaps.push_back({.low = *low, .high = *high, .segments = *segments, .segment_shift = *shift});
  }
  return heaps;
}

void HotspotCode::add_blobs(const MemoryWords& memory, const Heap& heap,
                            std::vector<Blob>& blobs) const {
  const auto segments = memory.range(heap.segments, (heap.high - heap.low) >> heap.segment_shift);
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    if (segments[i] != kBegin) continue;
    if (blobs.size() + addresses.size() == kMostFunctions) break;
    addresses.push_back(heap.low + (i << heap.segment_shift) + layout_.block_header_size);
  }
  const std::size_t size =
      8 + std::max({layout_.blob_name, layout_.blob_frame_size, layout_.blob_code_begin,
                    layout_.blob_code_end, layout_.blob_method});
  const MemoryParts parts = memory.parts(addresses, size);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Blob blob{.begin = parts.at<std::uint64_t>(i, layout_.blob_code_begin),
                    .end = parts.at<std::uint64_t>(i, layout_.blob_code_end),
                    .method = parts.at<std::uint64_t>(i, layout_.blob_method),
                    .kind = parts.at<std::uint64_t>(i, layout_.blob_name),
                    .frame_size = parts.at<std::uint32_t>(i, layout_.blob_frame_size)};
    const bool is_whole = addresses[i] <= blob.begin && blob.begin < blob.end &&
                          blob.end <= heap.high && blob.frame_size <= kMostFrameWords;
    if (is_whole) blobs.push_back(blob);
  }
}

// Others than methods are the interpreter, stubs and adapters.
void HotspotCode::sort_out(const MemoryWords& memory, std::vector<Blob>& blobs) {
  std::vector<std::uint64_t> kinds;
  kinds.reserve(blobs.size());
  for (const Blob& blob : blobs) kinds.push_back(blob.kind);
  std::ranges::sort(kinds);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  const MemoryParts texts = memory.parts(kinds, kKindBytes);
  const auto is_other = [&](const Blob& blob) {
    const auto kind = std::ranges::lower_bound(kinds, blob.kind) - kinds.begin();
    const std::string_view text = texts.text(static_cast<std::size_t>(kind));
    return text != "nmethod" && text != "native nmethod";
  };
  for (Blob& blob : blobs) {
    if (is_other(blob)) blob.method = blob.frame_size = 0;
  }
  std::ranges::sort(blobs, {}, &Blob::begin);
  const auto overlaps = [end = std::uint64_t{0}](const Blob& blob) mutable {
    return blob.begin < std::exchange(end, std::max(end, blob.end));
  };
  std::erase_if(blobs, overlaps);
}

std::vector<std::string> HotspotCode::symbols(const MemoryWords& memory,
                                              std::vector<std::uint64_t> addresses) const {
  std::vector<std::uint64_t> lengths = addresses, bodies = std::move(addresses);
  for (std::uint64_t& address : lengths) address += layout_.symbol_length;
  for (std::uint64_t& address : bodies) address += layout_.symbol_body;
  const MemoryParts length = memory.parts(lengths, sizeof(std::uint16_t));
  const MemoryParts body = memory.parts(bodies, kSymbolBytes);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::size_t size = std::min<std::size_t>(length.at<std::uint16_t>(i, 0), kSymbolBytes);
    texts.emplace_back(body.text(i, 0, size));
    if (!texts.back().empty()) continue;
    // The last names before memory that is not there.
    const auto bytes = memory.range(bodies[i], size);
    texts.back().assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

void HotspotCode::name_new(const MemoryWords& memory, const std::vector<Blob>& blobs) {
  std::vector<std::uint64_t> methods;
  std::vector<const Blob*> unnamed;
  for (const Blob& blob : blobs) {
    const auto known = known_.find(blob.begin);
    if (blob.method == 0) continue;
    if (known != known_.end() && known->second.method == blob.method) continue;
    if (unnamed.size() == kMostNewNames) break;
    unnamed.push_back(&blob);
    methods.push_back(blob.method);
  }
  const auto follow = [&](std::vector<std::uint64_t> from, std::uint32_t offset) {
    for (std::uint64_t& address : from) address += offset;
    const MemoryParts parts = memory.parts(from, sizeof(std::uint64_t));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = parts.at<std::uint64_t>(i, 0);
    return from;
  };
  const auto consts = follow(methods, layout_.method_const);
  const auto indexes = follow(consts, layout_.const_name_index);
  const auto pools = follow(consts, layout_.const_constants);
  auto names = pools;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] += layout_.pool_size + 8 * (indexes[i] & 0xffff);
  }
  names = follow(std::move(names), 0);
  for (std::uint64_t& symbol : names) symbol &= ~std::uint64_t{1};  // a tag of the constant pool
  const auto class_names =
      symbols(memory, follow(follow(pools, layout_.pool_holder), layout_.klass_name));
  const auto method_names = symbols(memory, std::move(names));
  for (std::size_t i = 0; i < unnamed.size(); ++i) {
    if (class_names[i].empty() || method_names[i].empty()) continue;
    known_[unnamed[i]->begin] = {.method = methods[i],
                                 .name = java_method_name(class_names[i], method_names[i])};
  }
}

std::optional<JitCode> HotspotCode::read(const MemoryWords& memory) {
  JitCode code;
  std::vector<Blob> blobs;
  for (const Heap& heap : heaps(memory)) {
    code.ranges.push_back({.begin = heap.low, .end = heap.high});
    add_blobs(memory, heap, blobs);
  }
  if (code.ranges.empty()) return std::nullopt;
  sort_out(memory, blobs);
  name_new(memory, blobs);
  std::unordered_map<std::uint64_t, Known> still;
  std::size_t bytes = 0;
  for (const Blob& blob : blobs) {
    const auto known = known_.find(blob.begin);
    const bool is_named = known != known_.end() && known->second.method == blob.method &&
                          bytes + known->second.name.size() <= kMostNameBytes;
    code.functions.push_back({.begin = blob.begin,
                              .end = blob.end,
                              .frame_size = blob.frame_size * std::uint32_t{8},
                              .name = is_named ? known->second.name : std::string()});
    if (!is_named) continue;
    bytes += known->second.name.size();
    still.insert(known_.extract(known));
  }
  known_ = std::move(still);
  return code;
}

}  // namespace offcpud
