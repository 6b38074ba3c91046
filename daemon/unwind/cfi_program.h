// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "elf/eh_frame.h"
#include "unwind/frame_state.h"

namespace offcpud {

// Limits the number of instructions to execute. FDEs may share one long CIE, so the size of a
// section does not limit the work that it causes.
class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t instructions) : left_(instructions) {}

  bool spend() { return left_ > 0 && left_-- > 0; }
  [[nodiscard]] bool is_spent() const { return left_ == 0; }

 private:
  std::uint64_t left_;
};

// Executes call frame instructions (DWARF 5, section 6.4.2, and DW_CFA_GNU_args_size) row by row.
class CfiProgram {
 public:
  // `initial`: the state after the CIE's instructions, to which DW_CFA_restore returns; null while
  // executing those instructions. `initial` and `section` must outlive the program.
  CfiProgram(const EhFrameSection& section, const Cie& cie, Bytes instructions,
             const FrameState* initial, std::uint64_t begin, WorkBudget& budget)
      : section_(section),
        cie_(cie),
        reader_(instructions),
        initial_(initial),
        state_(initial ? *initial : FrameState{}),
        next_(begin),
        budget_(budget) {}

  enum class Step {
    Row,   // state() holds from begin() up to end(); more rows follow
    Last,  // state() holds from begin() on
    Bad,   // from begin() on nothing is known: an instruction is unknown, incomplete or invalid
  };
  Step next();

  [[nodiscard]] const FrameState& state() const { return state_; }
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return next_; }

 private:
  bool execute(std::uint8_t opcode);
  bool execute_location(std::uint8_t opcode);
  bool execute_cfa(std::uint8_t opcode);
  bool execute_register(std::uint8_t opcode);
  bool execute_stack(std::uint8_t opcode);
  void set_register(std::uint64_t reg, const RegisterRule& rule);
  bool restore(std::uint64_t reg);
  bool advance(std::uint64_t delta);
  Bytes take_block() { return reader_.take_bytes(reader_.take_uleb()); }
  std::int64_t take_factored();
  std::int64_t take_signed_factored();

  // Compilers nest one deep; hand-written assembly may nest two deep.
  static constexpr std::size_t kMaxRemembered = 16;

  const EhFrameSection& section_;
  const Cie& cie_;
  ByteReader reader_;
  const FrameState* initial_;
  FrameState state_;
  std::array<FrameState, kMaxRemembered> remembered_{};
  std::size_t remembered_count_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t next_;
  WorkBudget& budget_;
};

}  // namespace offcpud
