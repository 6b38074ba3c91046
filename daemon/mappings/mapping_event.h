// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "elf/build_id.h"
#include "mappings/inode_id.h"

namespace offcpud {

// A change of the address space or of the threads of a process. Process and thread numbers are
// those of the PID namespace in which the events were opened.
struct MappingEvent {
  enum class Kind : std::uint8_t {
    Mapped,    // [begin, end) is now this executable mapping and nothing else
    Forked,    // thread `tid` of `tgid` began; a new process unless parent_tgid == tgid
    Exited,    // thread `tid` of `tgid` ended
    Executed,  // execve(): all mappings of `tgid` are gone, `tid` is its only thread
    Lost,      // `lost` events before this one found no room in the ring
  };

  Kind kind = Kind::Lost;
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_tgid = 0;
  MonotonicTime time{};

  std::uint64_t begin = 0;   // address of the first byte
  std::uint64_t end = 0;     // address after the last byte
  std::uint64_t offset = 0;  // of `begin` in the file
  BuildId build_id;          // if the kernel found one; then `inode` is unknown
  InodeId inode;
  std::string_view path;  // bytes in the parsed buffer, valid as long as that

  std::uint64_t lost = 0;
};

}  // namespace offcpud
