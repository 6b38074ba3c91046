// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "golang/function_table.h"
#include "unwind/cfi_program.h"
#include "unwind/go_rules.h"
#include "unwind/table_builder.h"

namespace offcpud {
namespace {

// Between two functions lies padding, which is never executed: a gap shorter than an alignment
// needs no row of its own.
constexpr std::uint64_t kPadding = 16;

// Twice as many as compilers' output needs at its densest, one instruction per byte: an FDE of 20
// bytes executes the dozen of its CIE besides its own.
std::uint64_t work_for(std::size_t section_bytes) {
  return 4096 + 2 * std::uint64_t{section_bytes};
}

// A function, of which an FDE or Go's table tells.
struct Piece {
  std::uint64_t begin = 0, end = 0;
  std::optional<Fde> fde;
  std::optional<GoFunction> go;
};

// Those that lie in executable segments.
class Pieces {
 public:
  explicit Pieces(const std::vector<ExecutableSegment>& segments) : segments_(segments) {}

  // Cut off at the end of its segment.
  void add(Piece piece) {
    for (const ExecutableSegment& segment : segments_) {
      if (piece.begin < segment.address || piece.begin - segment.address >= segment.size) continue;
      piece.end = std::min(piece.end, segment.address + segment.size);
      pieces_.push_back(piece);
      break;
    }
  }

  // By address. Of some that overlap each ends where the next begins.
  std::vector<Piece> sorted() && {
    std::ranges::stable_sort(pieces_, {}, &Piece::begin);
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      pieces_[i - 1].end = std::min(pieces_[i - 1].end, pieces_[i].begin);
    }
    return std::move(pieces_);
  }

 private:
  const std::vector<ExecutableSegment>& segments_;
  std::vector<Piece> pieces_;
};

std::vector<Piece> pieces_of(const ElfObject& object, FdeWalk& walk,
                             const std::optional<GoFunctionTable>& go) {
  Pieces pieces(object.segments);
  while (auto fde = walk.next()) {
    pieces.add({.begin = fde->begin, .end = fde->end, .fde = *fde, .go = {}});
  }
  for (std::size_t i = 0; go && i < go->size(); ++i) {
    const auto function = go->function(i);
    if (!function) continue;
    pieces.add({.begin = function->begin, .end = function->end, .fde = {}, .go = *function});
  }
  return std::move(pieces).sorted();
}

class Compilation {
 public:
  Compilation(const ElfObject& object, const std::optional<GoFunctionTable>& go,
              const UnwindLimits& limits)
      : section_(object.section()),
        go_(go),
        budget_(work_for(object.eh_frame.size() + object.go_table.size())),
        builder_(limits) {}

  void add(const Piece& piece);
  [[nodiscard]] bool has_failed() const { return builder_.is_full() || budget_.is_spent(); }
  TableBuilder& builder() { return builder_; }

 private:
  void add(const Fde& fde, std::uint64_t end);
  bool enter_cie(std::uint32_t offset);

  EhFrameSection section_;
  const std::optional<GoFunctionTable>& go_;
  WorkBudget budget_;
  TableBuilder builder_;
  // Of the last FDE, and what its instructions leave; it is mostly that of the next.
  std::uint32_t cie_offset_ = UINT32_MAX;
  std::optional<Cie> cie_;
  FrameState initial_;
};

bool Compilation::enter_cie(std::uint32_t offset) {
  if (offset == cie_offset_) return cie_.has_value();
  cie_offset_ = offset;
  cie_ = read_cie(section_, offset);
  if (!cie_) return false;
  CfiProgram program(section_, *cie_, cie_->instructions, nullptr, 0, budget_);
  if (program.next() == CfiProgram::Step::Last) {  // a CIE has one row
    initial_ = program.state();
  } else {
    cie_.reset();
  }
  return cie_.has_value();
}

void Compilation::add(const Piece& piece) {
  if (piece.fde) return add(*piece.fde, piece.end);
  builder_.table().functions++;
  add_go_function(*go_, *piece.go, piece.end, budget_, builder_);
}

void Compilation::add(const Fde& fde, std::uint64_t end) {
  UnwindTable& table = builder_.table();
  if (!enter_cie(fde.cie_offset)) {
    table.broken++;
    builder_.add(fde.begin, plain_rule(OFFCPUD_UNWIND_INVALID));
    return;
  }
  table.functions++;
  CfiProgram program(section_, *cie_, fde.instructions, &initial_, fde.begin, budget_);
  for (;;) {
    const CfiProgram::Step step = program.next();
    if (program.begin() >= end) return;
    if (step == CfiProgram::Step::Bad) {
      table.broken++;
      builder_.add(program.begin(), plain_rule(OFFCPUD_UNWIND_INVALID));
      return;
    }
    builder_.add(program.begin(), rule_of(*cie_, program.state()));
    if (step == CfiProgram::Step::Last || builder_.is_full()) return;
  }
}

}  // namespace

const UnwindRule& UnwindTable::find(std::uint64_t address) const {
  const std::uint64_t number = address >> OFFCPUD_UNWIND_PAGE_SHIFT;
  const auto page = std::ranges::lower_bound(pages, number, {}, &Page::number);
  if (page == pages.end() || page->number != number) return rules[OFFCPUD_UNWIND_RULE_NO_FDE];
  const auto low = static_cast<std::uint16_t>(address & ((1U << OFFCPUD_UNWIND_PAGE_SHIFT) - 1));
  const auto first = rows.begin() + page->first;
  const auto after =
      std::upper_bound(first, first + page->count, low,
                       [](std::uint16_t a, const offcpud_unwind_row& b) { return a < b.address; });
  return rules[(after - 1)->rule];
}

Result<UnwindTable> compile_unwind_table(const ElfObject& object, const UnwindLimits& limits) {
  const auto go = GoFunctionTable::open(object.go_table, object.go_program);
  Compilation compilation(object, go, limits);
  FdeWalk walk(object.section());
  std::uint64_t end = 0;
  for (const Piece& piece : pieces_of(object, walk, go)) {
    if (piece.begin == piece.end) continue;
    if (end != 0 && piece.begin - end >= kPadding) {
      compilation.builder().add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
    }
    compilation.add(piece);
    end = piece.end;
    if (compilation.has_failed()) {
      return Error("unwind tables that ask for more rows, pages or work than a program's",
                   ErrorKind::Unsupported);
    }
  }
  TableBuilder& builder = compilation.builder();
  if (end != 0) builder.add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
  builder.table().broken += walk.broken();
  if (builder.is_full()) {
    return Error("unwind tables that ask for more rows or pages than a program's",
                 ErrorKind::Unsupported);
  }
  return std::move(builder.table());
}

}  // namespace offcpud
