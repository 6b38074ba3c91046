// SPDX-License-Identifier: Apache-2.0
#include "libdw_oracle.h"

#include <dwarf.h>

#include <cstdio>
#include <cstdlib>

namespace offcpud {
namespace {

struct Location {
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  Dwarf_Op memory[3]{};
  bool known = false;

  // dwarf_frame_register(): no operation means undefined, or unchanged if there are no ops at all.
  [[nodiscard]] bool is_undefined() const { return known && count == 0 && ops == memory; }
  [[nodiscard]] bool is_same() const { return known && count == 0 && ops == nullptr; }
  [[nodiscard]] bool begins_at_cfa() const {
    return known && count > 0 && ops[0].atom == DW_OP_call_frame_cfa;
  }
  // "in memory at CFA + offset"
  [[nodiscard]] bool is_at_cfa(std::int64_t& offset) const {
    if (!begins_at_cfa() || count > 2) return false;
    if (count == 2 && ops[1].atom != DW_OP_plus_uconst) return false;
    offset = count == 2 ? static_cast<std::int64_t>(ops[1].number) : 0;
    return true;
  }
  [[nodiscard]] bool is_cfa() const {
    return begins_at_cfa() && count == 2 && ops[1].atom == DW_OP_stack_value;
  }
};

void locate(Dwarf_Frame* frame, int reg, Location& location) {
  location.known =
      dwarf_frame_register(frame, reg, location.memory, &location.ops, &location.count) == 0;
}

UnwindRule invalid() {
  return plain_rule(OFFCPUD_UNWIND_INVALID);
}

UnwindRule based(offcpud_unwind_kind rsp_kind, offcpud_unwind_kind rbp_kind, std::uint64_t reg,
                 Dwarf_Word offset, std::uint64_t addend) {
  if (reg != 6 && reg != 7) return invalid();
  return {.kind = static_cast<__u8>(reg == 7 ? rsp_kind : rbp_kind),
          .cfa_offset = static_cast<__s32>(offset),
          .addend = static_cast<__s32>(addend)};
}

UnwindRule cfa_of(Dwarf_Frame* frame) {
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return invalid();
  if (count == 1 && ops[0].atom == DW_OP_bregx) {
    return based(OFFCPUD_UNWIND_RSP, OFFCPUD_UNWIND_RBP, ops[0].number, ops[0].number2, 0);
  }
  if (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31) return invalid();
  const std::uint64_t reg = ops[0].atom - std::uint64_t{DW_OP_breg0};
  if (count == 1) return based(OFFCPUD_UNWIND_RSP, OFFCPUD_UNWIND_RBP, reg, ops[0].number, 0);
  if (ops[1].atom == DW_OP_deref) {
    std::uint64_t addend = 0;
    for (std::size_t i = 2; i < count; ++i) {
      if (ops[i].atom != DW_OP_plus_uconst) return invalid();
      addend += ops[i].number;
    }
    return based(OFFCPUD_UNWIND_AT_RSP, OFFCPUD_UNWIND_AT_RBP, reg, ops[0].number, addend);
  }
  const bool is_plt = count == 9 && reg == 7 && ops[0].number == 8 && ops[1].atom == DW_OP_breg16 &&
                      ops[2].atom == DW_OP_lit15 && ops[3].atom == DW_OP_and &&
                      ops[4].atom >= DW_OP_lit0 && ops[4].atom <= DW_OP_lit15 &&
                      ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
                      ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus;
  if (!is_plt) return invalid();
  return {.kind = OFFCPUD_UNWIND_PLT, .cfa_offset = ops[4].atom - DW_OP_lit0};
}

void set_rbp(Dwarf_Frame* frame, UnwindRule& rule) {
  Location rbp;
  locate(frame, 6, rbp);
  std::int64_t offset = 0;
  if (rbp.is_same()) {
    rule.rbp = OFFCPUD_UNWIND_RBP_SAME;
  } else if (rbp.is_at_cfa(offset)) {
    rule.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
    rule.rbp_offset = static_cast<__s32>(offset);
  } else if (rbp.begins_at_cfa() && rbp.count == 2 && rbp.ops[1].atom == DW_OP_breg6) {
    rule.rbp = OFFCPUD_UNWIND_RBP_AT_RBP;  // an expression begins with the CFA on its stack
    rule.rbp_offset = static_cast<__s32>(rbp.ops[1].number);
  } else {
    rule.rbp = OFFCPUD_UNWIND_RBP_LOST;
  }
}

UnwindRule rule_of(Dwarf_Frame* frame, int ra_register, bool signal_frame) {
  if (signal_frame) {
    const UnwindRule cfa = cfa_of(frame);
    return cfa.kind == OFFCPUD_UNWIND_AT_RSP && cfa.cfa_offset == 160 && cfa.addend == 0
               ? plain_rule(OFFCPUD_UNWIND_SIGNAL)
               : invalid();
  }
  Location ra, rsp;
  locate(frame, ra_register, ra);
  if (ra.is_undefined()) return plain_rule(OFFCPUD_UNWIND_END);
  locate(frame, 7, rsp);
  if (ra_register != 16 || !(rsp.is_same() || rsp.is_cfa())) return invalid();
  UnwindRule rule = cfa_of(frame);
  if (rule.kind == OFFCPUD_UNWIND_INVALID) return rule;
  std::int64_t offset = 0;
  if (ra.known && ra.count == 1 && ra.ops[0].atom == DW_OP_regx && ra.ops[0].number == 5 &&
      rule.kind == OFFCPUD_UNWIND_RSP) {
    rule.kind = OFFCPUD_UNWIND_RDI;
  } else if (!ra.is_at_cfa(offset) || offset != -8) {
    return invalid();
  }
  set_rbp(frame, rule);
  return rule;
}

}  // namespace

LibdwOracle::LibdwOracle(int fd) {
  elf_version(EV_CURRENT);
  elf_ = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  cfi_ = elf_ ? dwarf_getcfi_elf(elf_) : nullptr;
}

LibdwOracle::Row LibdwOracle::at(std::uint64_t address) const {
  Dwarf_Frame* raw = nullptr;
  if (dwarf_cfi_addrframe(cfi_, address, &raw) != 0 || !raw) {
    return {.begin = address, .end = address + 1, .rule = plain_rule(OFFCPUD_UNWIND_NO_FDE)};
  }
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(raw, &std::free);
  Row row;
  bool signal_frame = false;
  const int ra_register = dwarf_frame_info(raw, &row.begin, &row.end, &signal_frame);
  row.rule = rule_of(raw, ra_register, signal_frame);
  return row;
}

Comparison& Comparison::operator+=(const Comparison& other) {
  addresses += other.addresses;
  mismatches += other.mismatches;
  invalid += other.invalid;
  if (first_mismatch.empty()) first_mismatch = other.first_mismatch;
  return *this;
}

std::string to_string(const UnwindRule& rule) {
  char text[128];
  std::snprintf(text, sizeof text, "kind %d, CFA %+d %+d, rbp %d %+d", rule.kind, rule.cfa_offset,
                rule.addend, rule.rbp, rule.rbp_offset);
  return text;
}

namespace {

class Comparing {
 public:
  Comparing(const UnwindTable& table, const LibdwOracle& oracle) : table_(table), oracle_(oracle) {}

  // The addresses from `begin` to `end`, in all of which the table says the same.
  void range(std::uint64_t begin, std::uint64_t end) {
    const UnwindRule& ours = table_.find(begin);
    for (std::uint64_t address = begin; address < end;) {
      const LibdwOracle::Row row = oracle_.at(address);
      if (row.rule.kind == OFFCPUD_UNWIND_NO_FDE) {
        // Padding after a function belongs to it in our table, and there is less than 16 of it.
        const std::uint64_t known = next_known(address, end);
        const bool is_padding = address > begin && known - address < 16;
        if (ours.kind == OFFCPUD_UNWIND_NO_FDE || !is_padding) check(address, ours, row.rule);
        address = is_padding ? known : end;
        continue;
      }
      check(address, ours, row.rule);
      const std::uint64_t last = (row.end < end ? row.end : end) - 1;
      if (last > address) check(last, table_.find(last), oracle_.at(last).rule);
      address = last + 1;
    }
    if (ours.kind == OFFCPUD_UNWIND_NO_FDE) check(end - 1, ours, oracle_.at(end - 1).rule);
  }

  Comparison result;

 private:
  [[nodiscard]] std::uint64_t next_known(std::uint64_t address, std::uint64_t end) const {
    const std::uint64_t begin = address;
    while (address < end && address - begin < 16 &&
           oracle_.at(address).rule.kind == OFFCPUD_UNWIND_NO_FDE) {
      address++;
    }
    return address;
  }

  void check(std::uint64_t address, const UnwindRule& ours, const UnwindRule& theirs) {
    result.addresses++;
    if (UnwindRuleEqual()(ours, theirs)) {
      if (ours.kind == OFFCPUD_UNWIND_INVALID) result.invalid++;
      return;
    }
    // libdw has no frame where the instructions are broken.
    if (ours.kind == OFFCPUD_UNWIND_INVALID && theirs.kind == OFFCPUD_UNWIND_NO_FDE) {
      result.invalid++;
      return;
    }
    if (result.mismatches++ > 0) return;
    char at[32];
    std::snprintf(at, sizeof at, "0x%llx: ", static_cast<unsigned long long>(address));
    result.first_mismatch = at + to_string(ours) + "; libdw: " + to_string(theirs);
  }

  const UnwindTable& table_;
  const LibdwOracle& oracle_;
};

}  // namespace

Comparison compare(const UnwindTable& table, const LibdwOracle& oracle) {
  Comparing comparing(table, oracle);
  std::uint64_t begin = 0;
  for (const UnwindTable::Page& page : table.pages) {
    for (std::uint32_t i = page.first; i < page.first + page.count; ++i) {
      const std::uint64_t address =
          (std::uint64_t{page.number} << OFFCPUD_UNWIND_PAGE_SHIFT) + table.rows[i].address;
      if (begin != 0 && begin < address) comparing.range(begin, address);
      begin = address;
    }
  }
  if (begin != 0) comparing.range(begin, begin + 1);  // one past the last function
  return comparing.result;
}

}  // namespace offcpud
