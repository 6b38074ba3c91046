// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "unwind/cfi_program.h"
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

// The FDEs that lie in executable segments, cut off at the end of theirs, by address. Of FDEs that
// overlap each ends where the next begins.
std::vector<Fde> sorted_fdes(FdeWalk& walk, const std::vector<ExecutableSegment>& segments) {
  std::vector<Fde> fdes;
  while (auto fde = walk.next()) {
    for (const ExecutableSegment& segment : segments) {
      if (fde->begin < segment.address || fde->begin - segment.address >= segment.size) continue;
      fde->end = std::min(fde->end, segment.address + segment.size);
      fdes.push_back(*fde);
      break;
    }
  }
  std::ranges::stable_sort(fdes, {}, &Fde::begin);
  for (std::size_t i = 1; i < fdes.size(); ++i) {
    fdes[i - 1].end = std::min(fdes[i - 1].end, fdes[i].begin);
  }
  return fdes;
}

class Compilation {
 public:
  Compilation(const ElfObject& object, const UnwindLimits& limits)
      : section_(object.section()), budget_(work_for(object.eh_frame.size())), builder_(limits) {}

  void add(const Fde& fde);
  [[nodiscard]] bool has_failed() const { return builder_.is_full() || budget_.is_spent(); }
  TableBuilder& builder() { return builder_; }

 private:
  bool enter_cie(std::uint32_t offset);

  EhFrameSection section_;
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

void Compilation::add(const Fde& fde) {
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
    if (program.begin() >= fde.end) return;
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
  Compilation compilation(object, limits);
  FdeWalk walk(object.section());
  std::uint64_t end = 0;
  for (const Fde& fde : sorted_fdes(walk, object.segments)) {
    if (fde.begin == fde.end) continue;
    if (end != 0 && fde.begin - end >= kPadding) {
      compilation.builder().add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
    }
    compilation.add(fde);
    end = fde.end;
    if (compilation.has_failed()) {
      return Error("an .eh_frame that asks for more rows, pages or work than a program's",
                   ErrorKind::Unsupported);
    }
  }
  TableBuilder& builder = compilation.builder();
  if (end != 0) builder.add(end, plain_rule(OFFCPUD_UNWIND_NO_FDE));
  builder.table().broken += walk.broken();
  if (builder.is_full()) {
    return Error("an .eh_frame that asks for more rows or pages than a program's",
                 ErrorKind::Unsupported);
  }
  return std::move(builder.table());
}

}  // namespace offcpud
