// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi_program.h"

namespace offcpud {
namespace {

using Kind = RegisterRule::Kind;

// DW_CFA_*: DWARF 5, table 7.29. The first three have an operand in their low six bits.
enum : std::uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
};
constexpr std::uint8_t kPrimary = 0xc0;
constexpr std::uint8_t kOperand = 0x3f;

// Factors and offsets may have any value. They wrap around, as in a 64-bit register.
std::int64_t times(std::uint64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(a * static_cast<std::uint64_t>(b));
}

// Whether the first operand is a register whose rule is set.
bool concerns_register(std::uint8_t opcode) {
  return (opcode >= kOffsetExtended && opcode <= kRegister) || opcode == kExpression ||
         opcode == kOffsetExtendedSf || (opcode >= kValOffset && opcode <= kValExpression);
}

}  // namespace

CfiProgram::Step CfiProgram::next() {
  begin_ = next_;
  while (!reader_.at_end()) {
    const std::uint64_t before = next_;
    if (!budget_.spend() || !execute(reader_.take<std::uint8_t>()) || !reader_.ok()) {
      return Step::Bad;
    }
    if (next_ != before) return Step::Row;
  }
  return Step::Last;
}

bool CfiProgram::execute(std::uint8_t opcode) {
  const std::uint8_t operand = opcode & kOperand;
  switch (opcode & kPrimary) {
    case kAdvanceLoc:
      return advance(operand);
    case kOffset:
      set_register(operand, {.kind = Kind::Offset, .offset = take_factored()});
      return true;
    case kRestore:
      return restore(operand);
    default:
      break;
  }
  switch (opcode) {
    case kNop:
      return true;
    case kGnuArgsSize:  // what the caller pushed; only matters for exceptions
      (void)reader_.take_uleb();
      return true;
    default:
      return execute_location(opcode) || execute_cfa(opcode) || execute_register(opcode) ||
             execute_stack(opcode);
  }
}

bool CfiProgram::advance(std::uint64_t delta) {
  next_ += delta * cie_.code_alignment;
  return next_ >= begin_;
}

bool CfiProgram::execute_location(std::uint8_t opcode) {
  switch (opcode) {
    case kAdvanceLoc1:
      return advance(reader_.take<std::uint8_t>());
    case kAdvanceLoc2:
      return advance(reader_.take<std::uint16_t>());
    case kAdvanceLoc4:
      return advance(reader_.take<std::uint32_t>());
    case kSetLoc: {
      // The operand may be relative to its own address.
      const auto at = static_cast<std::uint64_t>(reader_.rest().data() - section_.bytes.data());
      const auto location =
          take_encoded(reader_, cie_.pointer_encoding, section_.address + at - reader_.position());
      if (!location || *location < begin_) return false;
      next_ = *location;
      return true;
    }
    default:
      return false;
  }
}

bool CfiProgram::execute_cfa(std::uint8_t opcode) {
  CfaRule& cfa = state_.cfa;
  const bool has_register = cfa.kind == CfaRule::Kind::RegisterOffset;
  switch (opcode) {
    case kDefCfa:
      cfa = {.kind = CfaRule::Kind::RegisterOffset, .reg = reader_.take_uleb()};
      cfa.offset = static_cast<std::int64_t>(reader_.take_uleb());
      return true;
    case kDefCfaSf:
      cfa = {.kind = CfaRule::Kind::RegisterOffset, .reg = reader_.take_uleb()};
      cfa.offset = take_signed_factored();
      return true;
    case kDefCfaRegister:
      cfa.reg = reader_.take_uleb();
      return has_register;
    case kDefCfaOffset:
      cfa.offset = static_cast<std::int64_t>(reader_.take_uleb());
      return has_register;
    case kDefCfaOffsetSf:
      cfa.offset = take_signed_factored();
      return has_register;
    case kDefCfaExpression:
      cfa = {.kind = CfaRule::Kind::Expression, .expression = take_block()};
      return true;
    default:
      return false;
  }
}

bool CfiProgram::execute_register(std::uint8_t opcode) {
  if (!concerns_register(opcode)) return false;
  const std::uint64_t reg = reader_.take_uleb();
  RegisterRule rule;
  switch (opcode) {
    case kRestoreExtended:
      return restore(reg);
    case kUndefined:
      rule.kind = Kind::Undefined;
      break;
    case kSameValue:
      rule.kind = Kind::Same;
      break;
    case kOffsetExtended:
      rule = {.kind = Kind::Offset, .offset = take_factored()};
      break;
    case kOffsetExtendedSf:
      rule = {.kind = Kind::Offset, .offset = take_signed_factored()};
      break;
    case kValOffset:
      rule = {.kind = Kind::ValueOffset, .offset = take_factored()};
      break;
    case kValOffsetSf:
      rule = {.kind = Kind::ValueOffset, .offset = take_signed_factored()};
      break;
    case kRegister:
      rule = {.kind = Kind::Register, .offset = static_cast<std::int64_t>(reader_.take_uleb())};
      break;
    case kExpression:
      rule = {.kind = Kind::Expression, .expression = take_block()};
      break;
    default:
      rule = {.kind = Kind::ValueExpression, .expression = take_block()};
      break;
  }
  set_register(reg, rule);
  return true;
}

bool CfiProgram::execute_stack(std::uint8_t opcode) {
  switch (opcode) {
    case kRememberState:
      if (remembered_count_ == remembered_.size()) return false;
      remembered_[remembered_count_++] = state_;
      return true;
    case kRestoreState:
      if (remembered_count_ == 0) return false;
      state_ = remembered_[--remembered_count_];
      return true;
    default:
      return false;
  }
}

void CfiProgram::set_register(std::uint64_t reg, const RegisterRule& rule) {
  if (reg == dwarf_register::kRbp) {
    state_.rbp = rule;
  } else if (reg == dwarf_register::kRsp) {
    state_.rsp = rule;
  } else if (reg == cie_.return_register) {
    state_.return_address = rule;
  }
}

bool CfiProgram::restore(std::uint64_t reg) {
  if (!initial_) return false;
  if (reg == dwarf_register::kRbp) {
    state_.rbp = initial_->rbp;
  } else if (reg == dwarf_register::kRsp) {
    state_.rsp = initial_->rsp;
  } else if (reg == cie_.return_register) {
    state_.return_address = initial_->return_address;
  }
  return true;
}

std::int64_t CfiProgram::take_factored() {
  return times(reader_.take_uleb(), cie_.data_alignment);
}

std::int64_t CfiProgram::take_signed_factored() {
  return times(static_cast<std::uint64_t>(reader_.take_sleb()), cie_.data_alignment);
}

}  // namespace offcpud
