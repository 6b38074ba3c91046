// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_rule.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace offcpud {
namespace {

using Kind = RegisterRule::Kind;

// DW_OP_*: DWARF 5, table 7.9.
constexpr std::uint8_t kDeref = 0x06;
constexpr std::uint8_t kPlusUconst = 0x23;
constexpr std::uint8_t kBreg0 = 0x70;

// The CFA of a signal frame is rsp in its sigcontext (struct rt_sigframe and struct sigcontext_64
// in the kernel's arch/x86), as in glibc's __restore_rt.
constexpr std::int64_t kSavedRsp = 160;

std::optional<std::int32_t> narrow(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

UnwindRule cfa_rule(offcpud_unwind_kind kind, std::int64_t offset, std::int64_t addend = 0) {
  const auto narrow_offset = narrow(offset);
  const auto narrow_addend = narrow(addend);
  if (!narrow_offset || !narrow_addend) return plain_rule(OFFCPUD_UNWIND_INVALID);
  return {.kind = static_cast<__u8>(kind), .cfa_offset = *narrow_offset, .addend = *narrow_addend};
}

// The expression that every linker makes for a lazy PLT: breg7 8, breg16 0, lit15, and, litN,
// ge, lit3, shl, plus. After the push of the index, at N bytes into an entry of 16, the stack
// has 8 more bytes.
UnwindRule plt_rule(Bytes expression) {
  constexpr std::array<std::uint8_t, 11> kPlt = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
                                                 0x00, 0x2a, 0x33, 0x24, 0x22};
  constexpr std::size_t kLiteral = 6;
  constexpr std::uint8_t kLit0 = 0x30;
  if (expression.size() != kPlt.size()) return plain_rule(OFFCPUD_UNWIND_INVALID);
  for (std::size_t i = 0; i < kPlt.size(); ++i) {
    if (i != kLiteral && expression[i] != kPlt[i]) return plain_rule(OFFCPUD_UNWIND_INVALID);
  }
  const int literal = expression[kLiteral] - kLit0;
  if (literal < 0 || literal > 15) return plain_rule(OFFCPUD_UNWIND_INVALID);
  return cfa_rule(OFFCPUD_UNWIND_PLT, literal);
}

// The operands of "breg o" for rsp or rbp.
struct BasedOn {
  std::uint64_t reg;
  std::int64_t offset;
};
std::optional<BasedOn> take_base(ByteReader& reader) {
  const std::uint64_t reg = reader.take<std::uint8_t>() - std::uint64_t{kBreg0};
  if (reg != dwarf_register::kRsp && reg != dwarf_register::kRbp) return std::nullopt;
  const std::int64_t offset = reader.take_sleb();
  if (!reader.ok()) return std::nullopt;
  return BasedOn{reg, offset};
}

// "breg o, deref" and any number of "plus_uconst".
UnwindRule dereferencing_rule(Bytes expression) {
  // A limit, because it is read again for each row that it applies to.
  constexpr std::size_t kMost = 64;
  if (expression.size() > kMost) return plain_rule(OFFCPUD_UNWIND_INVALID);
  ByteReader reader(expression);
  const auto base = take_base(reader);
  if (!base || reader.take<std::uint8_t>() != kDeref) return plain_rule(OFFCPUD_UNWIND_INVALID);
  std::uint64_t addend = 0;
  while (!reader.at_end()) {
    if (reader.take<std::uint8_t>() != kPlusUconst) return plain_rule(OFFCPUD_UNWIND_INVALID);
    addend += reader.take_uleb();
  }
  if (!reader.ok()) return plain_rule(OFFCPUD_UNWIND_INVALID);
  return cfa_rule(base->reg == dwarf_register::kRsp ? OFFCPUD_UNWIND_AT_RSP : OFFCPUD_UNWIND_AT_RBP,
                  base->offset, static_cast<std::int64_t>(addend));
}

UnwindRule cfa_of(const CfaRule& cfa) {
  switch (cfa.kind) {
    case CfaRule::Kind::RegisterOffset:
      if (cfa.reg == dwarf_register::kRsp) return cfa_rule(OFFCPUD_UNWIND_RSP, cfa.offset);
      if (cfa.reg == dwarf_register::kRbp) return cfa_rule(OFFCPUD_UNWIND_RBP, cfa.offset);
      break;
    case CfaRule::Kind::Expression:
      if (auto rule = dereferencing_rule(cfa.expression); rule.kind != OFFCPUD_UNWIND_INVALID) {
        return rule;
      }
      return plt_rule(cfa.expression);
    case CfaRule::Kind::None:
      break;
  }
  return plain_rule(OFFCPUD_UNWIND_INVALID);
}

void set_rbp(UnwindRule& rule, const RegisterRule& rbp) {
  rule.rbp = OFFCPUD_UNWIND_RBP_LOST;
  switch (rbp.kind) {
    case Kind::Unspecified:  // belongs to the caller: ABI, section 3.2.1
    case Kind::Same:
      rule.rbp = OFFCPUD_UNWIND_RBP_SAME;
      break;
    case Kind::Offset:
      if (const auto offset = narrow(rbp.offset)) {
        rule.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
        rule.rbp_offset = *offset;
      }
      break;
    case Kind::Expression: {
      ByteReader reader(rbp.expression);
      const auto base = take_base(reader);
      if (!base || base->reg != dwarf_register::kRbp || !reader.at_end()) break;
      if (const auto offset = narrow(base->offset)) {
        rule.rbp = OFFCPUD_UNWIND_RBP_AT_RBP;
        rule.rbp_offset = *offset;
      }
      break;
    }
    default:
      break;
  }
}

bool is_cfa(const RegisterRule& rsp) {
  return rsp.kind == Kind::Unspecified || rsp.kind == Kind::Same ||
         (rsp.kind == Kind::ValueOffset && rsp.offset == 0);
}

}  // namespace

std::uint64_t UnwindRuleHash::secret() {
  static const std::uint64_t kSecret = [] {
    std::uint64_t word = 0;
    // Early after boot there may be no random number; then this is a plain hash.
    (void)!::getrandom(&word, sizeof word, GRND_NONBLOCK);
    return word;
  }();
  return kSecret;
}

UnwindRule rule_of(const Cie& cie, const FrameState& state) {
  const RegisterRule& ra = state.return_address;
  if (cie.signal_frame) {
    const UnwindRule cfa = cfa_of(state.cfa);
    const bool is_kernels =
        cfa.kind == OFFCPUD_UNWIND_AT_RSP && cfa.cfa_offset == kSavedRsp && cfa.addend == 0;
    return plain_rule(is_kernels ? OFFCPUD_UNWIND_SIGNAL : OFFCPUD_UNWIND_INVALID);
  }
  if (ra.kind == Kind::Undefined) return plain_rule(OFFCPUD_UNWIND_END);
  if (cie.return_register != dwarf_register::kReturnAddress || !is_cfa(state.rsp)) {
    return plain_rule(OFFCPUD_UNWIND_INVALID);
  }
  UnwindRule rule = cfa_of(state.cfa);
  if (rule.kind == OFFCPUD_UNWIND_INVALID) return rule;
  if (ra.kind == Kind::Register && ra.offset == std::int64_t{dwarf_register::kRdi} &&
      rule.kind == OFFCPUD_UNWIND_RSP) {
    rule.kind = OFFCPUD_UNWIND_RDI;
  } else if (ra.kind != Kind::Offset || ra.offset != -8) {
    return plain_rule(OFFCPUD_UNWIND_INVALID);
  }
  set_rbp(rule, state.rbp);
  return rule;
}

}  // namespace offcpud
