// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace offcpud {

// Parts of a program, a library or a perf map that exceed a limit and are left out; the rest is
// used. Values of the label `cause` of offcpud_objects_refused_total.
enum class ObjectRefusal : std::size_t {
  Symbols,          // a symbol table, of the object or of its debug file
  EmbeddedSymbols,  // .gnu_debugdata
  GoTable,          // .gopclntab
  Frames,           // the search table of .eh_frame_hdr, which tells where functions are
  UnwindTable,      // without one, stacks are walked by frame pointers
  PerfMap,          // the older part of /tmp/perf-PID.map
  Count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(ObjectRefusal::Count)>
    kObjectRefusalNames = {"symbols", "embedded_symbols", "go_table",
                           "frames",  "unwind_table",     "perf_map"};

constexpr std::string_view name_of(ObjectRefusal cause) {
  return kObjectRefusalNames[static_cast<std::size_t>(cause)];
}
static_assert(!kObjectRefusalNames.back().empty(), "each ObjectRefusal has a name");

// A set of refusals.
class ObjectRefusals {
 public:
  void add(ObjectRefusal cause) { bits_ |= bit(cause); }
  [[nodiscard]] bool contains(ObjectRefusal cause) const { return (bits_ & bit(cause)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t i = 0; i < kObjectRefusalNames.size(); ++i) {
      if (contains(static_cast<ObjectRefusal>(i))) use(static_cast<ObjectRefusal>(i));
    }
  }
  bool operator==(const ObjectRefusals&) const = default;

 private:
  static constexpr unsigned bit(ObjectRefusal cause) {
    return 1U << static_cast<std::size_t>(cause);
  }
  unsigned bits_ = 0;
};

}  // namespace offcpud
