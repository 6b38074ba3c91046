// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"

namespace offcpud {

// Register numbers in the System V ABI, AMD64 supplement, figure 3.36.
namespace dwarf_register {
inline constexpr std::uint64_t kRdi = 5;
inline constexpr std::uint64_t kRbp = 6;
inline constexpr std::uint64_t kRsp = 7;
inline constexpr std::uint64_t kReturnAddress = 16;
}  // namespace dwarf_register

// How to find the caller's value of a register: DWARF 5, section 6.4.1. `expression` points into
// the section.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    Unspecified,
    Undefined,
    Same,
    Offset,       // at CFA + offset
    ValueOffset,  // is CFA + offset
    Register,     // in the register whose number is `offset`
    Expression,   // at the address computed by the expression
    ValueExpression,
  };
  Kind kind = Kind::Unspecified;
  std::int64_t offset = 0;
  Bytes expression;
};

struct CfaRule {
  enum class Kind : std::uint8_t { None, RegisterOffset, Expression };
  Kind kind = Kind::None;
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
  Bytes expression;
};

// One row of the table described by an FDE's instructions, with only those registers that a walk
// over return addresses needs.
struct FrameState {
  CfaRule cfa;
  RegisterRule rbp, rsp, return_address;
};

}  // namespace offcpud
