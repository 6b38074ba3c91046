// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace offcpud {

// Identifies an object; never reused. 0: none.
using ObjectId = std::uint64_t;

// The kind of information in a name.
enum class NameSource {
  Symbol,  // "std::thread::join"
  Frame,   // "libc.so.6!fn_85e40": code without a symbol, by the start of its FDE
  Offset,  // "[libfoo.so+0x1234]": neither; ELF address, or offset in the file if that is unknown
};

struct FrameName {
  std::string name;
  NameSource source = NameSource::Offset;
  bool operator==(const FrameName&) const = default;
};

}  // namespace offcpud
