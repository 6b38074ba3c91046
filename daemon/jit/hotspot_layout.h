// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "reader/memory_words.h"

namespace offcpud {

// Where HotSpot, the virtual machine of OpenJDK, keeps what it knows of its compiled code: offsets
// of fields in bytes. They come from the tables of its types that libjvm.so exports for debuggers
// (vmStructs.hpp: gHotSpotVMStructs, gHotSpotVMTypes), so none of them is built in.
struct HotspotLayout {
  std::uint64_t code_heaps = 0;  // address of the pointer CodeCache::_heaps
  // GrowableArray<CodeHeap*>
  std::uint32_t array_length = 0, array_data = 0;
  // CodeHeap, with two VirtualSpaces
  std::uint32_t heap_memory = 0, heap_segments = 0, heap_segment_shift = 0;
  std::uint32_t space_low = 0, space_high = 0;
  std::uint32_t block_header_size = 0;  // of HeapBlock, in front of each CodeBlob
  // CodeBlob
  std::uint32_t blob_name = 0, blob_frame_size = 0, blob_code_begin = 0, blob_code_end = 0;
  std::uint32_t blob_method = 0;  // only of compiled methods
  // Method -> ConstMethod -> ConstantPool -> Klass, and Symbol
  std::uint32_t method_const = 0, const_constants = 0, const_name_index = 0;
  std::uint32_t pool_size = 0, pool_holder = 0, klass_name = 0;
  std::uint32_t symbol_length = 0, symbol_body = 0;
};

// Reads the tables of the libjvm.so that is mapped from address `base` on. Nothing: there is no
// libjvm.so, its tables lack a field, or its memory could not be read. Time and memory are bounded,
// whatever the process has there: some thousand small reads.
std::optional<HotspotLayout> read_hotspot_layout(const MemoryWords& memory, std::uint64_t base);

}  // namespace offcpud
