// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_table.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "elf/go_function_table.h"
#include "unwind/cfi_program.h"
#include "unwind/go_rules.h"
#include "unwind/table_builder.h"

namespace offcpud {
namespace {

// Padding between two functions is never executed, so a gap shorter than an alignment needs no row.
constexpr std::uint64_t kPadding = 16;

// Twice what the densest output of compilers needs, one instruction per byte: an FDE of 20 bytes
// executes the dozen of its CIE besides its own.
std::uint64_t work_for(std::size_t section_bytes) {
  return 4096 + 2 * std::uint64_t{section_bytes};
}

// A function known from an FDE or from Go's table. A hostile file may have millions, so the rest is
// read again when needed.
struct Piece {
  static constexpr std::uint32_t kGo = 1U << 31U;

  std::uint64_t begin = 0;
  std::uint32_t size = 0;
  // kGo | its number; or the offset of its FDE, since sections are shorter.
  std::uint32_t source = 0;

  [[nodiscard]] std::uint64_t end() const { return begin + size; }
};
static_assert(kMaxEhFrame < Piece::kGo && kMaxGoTable < Piece::kGo);

// The functions in executable segments.
class Pieces {
 public:
  Pieces(const ElfObject& object, std::uint32_t most) : segments_(object.segments), most_(most) {
    // The shortest useful FDE has 14 bytes, an entry of Go's table 8. A growing vector briefly
    // exists twice; of a reserved one only the used part takes memory.
    const std::size_t possible = object.eh_frame.size() / 14 + object.go_table.size() / 8;
    pieces_.reserve(std::min<std::size_t>(most, possible));
  }

  // Adds a function, truncated at the end of its segment. False: there are too many.
  bool add(std::uint64_t begin, std::uint64_t end, std::uint32_t source) {
    for (const ExecutableSegment& segment : segments_) {
      if (begin < segment.address || begin - segment.address >= segment.size) continue;
      if (pieces_.size() == most_) return false;
      const std::uint64_t size = std::min(end, segment.address + segment.size) - begin;
      pieces_.push_back(
          {begin, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX)), source});
      break;
    }
    return true;
  }

  // By address, then in the order of the file. One that overlaps the next ends where that begins.
  std::vector<Piece> sorted() && {
    std::ranges::sort(pieces_, [](const Piece& a, const Piece& b) {
      return std::tie(a.begin, a.source) < std::tie(b.begin, b.source);
    });
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      Piece& before = pieces_[i - 1];
      const std::uint64_t distance = pieces_[i].begin - before.begin;
      if (before.size > distance) before.size = static_cast<std::uint32_t>(distance);
    }
    return std::move(pieces_);
  }

 private:
  const std::vector<ExecutableSegment>& segments_;
  std::uint32_t most_;
  std::vector<Piece> pieces_;
};

Error too_much() {
  return Error("unwind tables with more functions, rows, pages or work than any program has",
               ErrorKind::Unsupported);
}

// Calls a function every few milliseconds.
class Between {
 public:
  explicit Between(const std::function<void()>& call) : call_(call) {}
  // Call it for each function examined, which takes 0.1 to 1 us.
  void step() {
    if (++steps_ % kEvery == 0 && call_) call_();
  }

 private:
  static constexpr std::uint32_t kEvery = 4096;
  const std::function<void()>& call_;
  std::uint32_t steps_ = 0;
};

Result<std::vector<Piece>> pieces_of(const ElfObject& object, FdeWalk& walk,
                                     const std::optional<GoFunctionTable>& go,
                                     const UnwindLimits& limits, Between& between) {
  Pieces pieces(object, limits.functions);
  while (const auto fde = walk.next()) {
    between.step();
    if (!pieces.add(fde->begin, fde->end, fde->offset)) return too_much();
  }
  for (std::size_t i = 0; go && i < go->size(); ++i) {
    between.step();
    const auto function = go->function(i);
    if (!function) continue;
    const auto source = Piece::kGo | static_cast<std::uint32_t>(i);
    if (!pieces.add(function->begin, function->end, source)) return too_much();
  }
  return std::move(pieces).sorted();
}

class Compilation {
 public:
  // `walk` must have reached its end.
  Compilation(const ElfObject& object, FdeWalk& walk, const std::optional<GoFunctionTable>& go,
              std::size_t pieces, const UnwindLimits& limits)
      : section_(object.section()),
        walk_(walk),
        go_(go),
        budget_(work_for(object.eh_frame.size() + object.go_table.size())),
        // Each instruction makes at most one row, each function two, each page one.
        builder_(limits,
                 object.eh_frame.size() + object.go_table.size() + 2 * pieces + limits.pages) {}

  void add(const Piece& piece);
  [[nodiscard]] bool has_failed() const { return builder_.is_full() || budget_.is_spent(); }
  TableBuilder& builder() { return builder_; }

 private:
  void add(const Fde& fde, std::uint64_t end);
  bool enter_cie(std::uint32_t offset);

  EhFrameSection section_;
  FdeWalk& walk_;
  const std::optional<GoFunctionTable>& go_;
  WorkBudget budget_;
  TableBuilder builder_;
  // The CIE of the last FDE, and the state after its instructions; the next FDE usually has the
  // same.
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
  if ((piece.source & Piece::kGo) == 0) {
    if (const auto fde = walk_.at(piece.source)) add(*fde, piece.end());
    return;
  }
  const auto function = go_->function(piece.source & ~Piece::kGo);
  if (!function) return;
  builder_.table().functions++;
  add_go_function(*go_, *function, piece.end(), budget_, builder_);
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

Result<UnwindTable> compile_unwind_table(const ElfObject& object, const UnwindLimits& limits,
                                         const std::function<void()>& call_between) {
  Between between(call_between);
  const auto go = GoFunctionTable::open(object.go_table, object.go_program);
  FdeWalk walk(object.section());
  TRY(const std::vector<Piece> pieces, pieces_of(object, walk, go, limits, between));
  const std::uint32_t broken = walk.broken();
  Compilation compilation(object, walk, go, pieces.size(), limits);
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) {
    between.step();
    if (piece.size == 0) continue;
    if (end != 0 && piece.begin - end >= kPadding) {
      compilation.builder().add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
    }
    compilation.add(piece);
    end = piece.end();
    if (compilation.has_failed()) return too_much();
  }
  TableBuilder& builder = compilation.builder();
  if (end != 0) builder.add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
  builder.table().broken += broken;
  if (builder.is_full()) return too_much();
  return std::move(builder.table());
}

}  // namespace offcpud
