// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "snapshot/difference.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// A snapshot as folded text, one line per stack:
//   comm;user root;..;user leaf;-;kernel root;..;kernel leaf 1234
// The number is microseconds. Lines are unique but for those that had to be cut, sorted, at most
// kMostLineBytes long, and there are none but these: no header, no comment. Fractions of a
// microsecond are carried to the next line, so the sum of all lines is that of the snapshot to
// 1 us, and a line that comes to 0 is left out. Of a difference each line has two numbers, the
// earlier first, as difffolded.pl writes them.
//
// With wakers, what ended the wait follows, upside down:
//   ..;kernel leaf;--;waker's kernel leaf;..;-;waker's user leaf;..;waker's user root;waker 1234
// `[no waker]` stands there when nobody is known. No frame is annotated then: `--color=chain` of
// flamegraph.pl does that itself.
class FoldedText {
 public:
  static constexpr std::size_t kMostLineBytes = 60'000;  // Pyroscope stops at 64 KiB

  struct Options {
    bool wakers = false;
    bool annotate_kernel = true;  // "_[k]" after the functions of the kernel; never with wakers
  };

  FoldedText(const Snapshot& snapshot, Options options);
  FoldedText(const StackDifference& difference, Options options);

  // Fills the buffer with the next bytes of the text and returns how many; 0: the end.
  std::size_t read(std::span<char> buffer);

 private:
  using Ids = std::vector<std::uint32_t>;  // indexes into names_
  struct Line {
    Ids frames;
    std::uint64_t ns = 0, before_ns = 0;
  };
  struct HashIds {
    std::size_t operator()(const Ids& ids) const;
  };
  struct Carry {
    std::uint64_t ns = 0;  // of a microsecond that no line has shown so far
    std::uint64_t microseconds(std::uint64_t more_ns);
  };

  void build(const Snapshot& snapshot, std::span<const StackAmount> before);
  std::uint32_t name(std::string_view text);
  std::uint32_t frame_name(const Snapshot& snapshot, std::uint32_t frame);
  void append_stack(const Snapshot& snapshot, const StackEntry& entry, Ids& line);
  void append_waker(const Snapshot& snapshot, const StackEntry& entry, Ids& line);
  void shorten(Ids& line);
  void sort_lines();
  void append_text(const Line& line);

  Options options_;
  bool two_columns_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  Ids frame_names_;  // by frame of the snapshot: our name + 1; 0: not asked for so far
  std::uint32_t dash_, waker_dash_, no_waker_, left_out_;

  std::vector<Line> lines_;
  std::size_t next_ = 0;
  Carry carry_, before_carry_;
  std::string pending_;  // text of lines that did not fit into the last buffer
  std::size_t pending_begin_ = 0;
};

}  // namespace offcpud
