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

// Writes a snapshot as folded text, one line per stack:
//   comm;user root;..;user leaf;-;kernel root;..;kernel leaf 1234
// The number is in microseconds. Lines are sorted and at most kMostLineBytes long; they are unique,
// except shortened ones. There is no header and no comment. Fractions of a microsecond are carried
// to the next line, so the sum of all lines is that of the snapshot to 1 us; a line of 0 is left
// out. For a difference each line has two numbers, the earlier one first, like those of
// difffolded.pl.
//
// With wakers, the stack that ended the wait follows in reverse:
//   ..;kernel leaf;--;waker's kernel leaf;..;-;waker's user leaf;..;waker's user root;waker 1234
// `[no waker]` takes its place if the waker is unknown. Then no frame is annotated, because
// `--color=chain` of flamegraph.pl does that itself.
class FoldedText {
 public:
  static constexpr std::size_t kMostLineBytes = 60'000;  // Pyroscope accepts less than 64 KiB

  struct Options {
    bool wakers = false;
    bool annotate_kernel = true;  // "_[k]" after kernel functions; never with wakers
  };

  FoldedText(const Snapshot& snapshot, Options options);
  FoldedText(const StackDifference& difference, Options options);

  // Writes the next bytes of the text into the buffer and returns their number; 0: the end.
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
    std::uint64_t ns = 0;  // part of a microsecond that no line has shown yet
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
  Ids frame_names_;  // by frame of the snapshot: index into names_ + 1; 0: not needed yet
  std::uint32_t dash_, waker_dash_, no_waker_, left_out_;

  std::vector<Line> lines_;
  std::size_t next_ = 0;
  Carry carry_, before_carry_;
  std::string pending_;  // text of lines that did not fit into the last buffer
  std::size_t pending_begin_ = 0;
};

}  // namespace offcpud
