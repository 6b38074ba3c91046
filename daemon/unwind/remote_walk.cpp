// SPDX-License-Identifier: Apache-2.0
#include "unwind/remote_walk.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kLostBp = 1;  // as in unwind.bpf.h
constexpr std::uint16_t kSyscall = 0x050f;

class Walk {
 public:
  Walk(std::uint32_t tgid, const UserRegisters& registers, const UnwindLookup& lookup,
       StackMemory& memory)
      : tgid_(tgid), at_(registers), lookup_(lookup), memory_(memory) {}

  RemoteStack run() {
    if (at_.ip == 0) stop(OFFCPUD_UNWIND_END_NO_USER);
    while (!stopped_ && stack_.addresses.size() < OFFCPUD_UNWIND_FRAMES) {
      stack_.addresses.push_back(at_.ip);
      stack_.stack_pointers.push_back(at_.sp);
      step();
    }
    return std::move(stack_);
  }

 private:
  void stop(offcpud_unwind_end end) {
    stack_.end = end;
    stopped_ = true;
  }

  bool read_word(std::uint64_t& word, std::uint64_t address) {
    return memory_.read(address, &word, sizeof(word));
  }

  void step() {
    const std::uint64_t pc = at_.ip - (exact_ ? 0 : 1);
    if (pc < place_.begin || pc >= place_.end) {
      const auto found = lookup_.place(tgid_, pc);
      if (!found) return step_without_rule(OFFCPUD_UNWIND_END_NO_MAPPING);
      place_ = *found;
    }
    const offcpud_unwind_rule rule = lookup_.rule(place_.object, pc - place_.bias);
    if (rule.kind == OFFCPUD_UNWIND_NO_FDE) return step_without_rule(OFFCPUD_UNWIND_END_NO_RULE);
    step_by(rule);
  }

  void step_to(std::uint64_t sp, std::uint64_t return_address) {
    at_.sp = sp;
    at_.ip = return_address;
    exact_ = false;
    first_ = false;
    if (return_address == 0) stop(OFFCPUD_UNWIND_END_ROOT);
  }

  void step_from_signal() {
    struct {
      std::uint64_t bp, bx, dx, ax, cx, sp, ip;
    } saved{};
    if (!memory_.read(at_.sp + 40 + 80, &saved, sizeof(saved))) {
      return stop(OFFCPUD_UNWIND_END_READ);
    }
    at_.bp = saved.bp;
    at_.sp = saved.sp;
    at_.ip = saved.ip;
    exact_ = true;
    first_ = false;
  }

  bool step_from_stub() {
    std::uint16_t code = 0;
    std::uint64_t return_address = 0;
    if (!exact_ || !memory_.read(at_.ip - sizeof(code), &code, sizeof(code)) || code != kSyscall ||
        !read_word(return_address, at_.sp) || !lookup_.place(tgid_, return_address - 1)) {
      return false;
    }
    step_to(at_.sp + sizeof(return_address), return_address);
    return true;
  }

  bool is_sigreturn() {
    std::uint64_t code = 0;
    if (!read_word(code, at_.ip)) return false;
    return code == 0x0f0000000fc0c748 || (code & 0xffffffffffffff) == 0x050f0000000fb8;
  }

  void step_without_rule(offcpud_unwind_end end) {
    if (step_from_stub()) return;
    if (is_sigreturn()) return step_from_signal();
    // In the innermost frame rbp may hold anything, and in unknown memory the walk may be wrong;
    // then rbp == 0 is no proof of a root.
    const bool is_guess = first_ || end == OFFCPUD_UNWIND_END_NO_MAPPING;
    if (by_frame_pointer_) end = OFFCPUD_UNWIND_END_FP;
    if (at_.bp == 0) return stop(is_guess ? end : OFFCPUD_UNWIND_END_ROOT);
    std::uint64_t frame[2] = {};
    if ((at_.bp & 7U) != 0 || at_.bp < at_.sp || !memory_.read(at_.bp, frame, sizeof(frame)) ||
        (is_guess && frame[1] == 0)) {
      return stop(end);
    }
    by_frame_pointer_ = true;
    const std::uint64_t sp = at_.bp + sizeof(frame);
    at_.bp = frame[0];
    step_to(sp, frame[1]);
  }

  bool find_cfa(const offcpud_unwind_rule& rule, std::uint64_t& cfa) {
    const auto offset = static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
    switch (rule.kind) {
      case OFFCPUD_UNWIND_RBP:
        cfa = at_.bp + offset;
        return true;
      case OFFCPUD_UNWIND_PLT:
        cfa = at_.sp + 8 + ((at_.ip & 15U) >= offset ? 8 : 0);
        return true;
      case OFFCPUD_UNWIND_AT_RSP:
      case OFFCPUD_UNWIND_AT_RBP:
        if (!read_word(cfa, (rule.kind == OFFCPUD_UNWIND_AT_RSP ? at_.sp : at_.bp) + offset)) {
          return false;
        }
        cfa += static_cast<std::uint64_t>(std::int64_t{rule.addend});
        return true;
      default:
        cfa = at_.sp + offset;
        return true;
    }
  }

  bool follow_bp(const offcpud_unwind_rule& rule, std::uint64_t cfa) {
    if (rule.rbp == OFFCPUD_UNWIND_RBP_SAME) return true;
    const std::uint64_t base = rule.rbp == OFFCPUD_UNWIND_RBP_AT_RBP ? at_.bp : cfa;
    std::uint64_t bp = kLostBp;
    const auto offset = static_cast<std::uint64_t>(std::int64_t{rule.rbp_offset});
    if (rule.rbp != OFFCPUD_UNWIND_RBP_LOST && !read_word(bp, base + offset)) return false;
    at_.bp = bp;
    return true;
  }

  void step_by(const offcpud_unwind_rule& rule) {
    if (rule.kind == OFFCPUD_UNWIND_SIGNAL) return step_from_signal();
    if (rule.kind == OFFCPUD_UNWIND_END) return stop(OFFCPUD_UNWIND_END_ROOT);
    if (rule.kind == OFFCPUD_UNWIND_INVALID || (rule.kind == OFFCPUD_UNWIND_RDI && !first_)) {
      return stop(OFFCPUD_UNWIND_END_INVALID);
    }
    std::uint64_t cfa = 0;
    std::uint64_t return_address = at_.di;
    if (!find_cfa(rule, cfa) ||
        (rule.kind != OFFCPUD_UNWIND_RDI && !read_word(return_address, cfa - 8)) ||
        !follow_bp(rule, cfa)) {
      return stop(OFFCPUD_UNWIND_END_READ);
    }
    step_to(cfa, return_address);
  }

  std::uint32_t tgid_;
  UserRegisters at_;
  const UnwindLookup& lookup_;
  StackMemory& memory_;
  UnwindLookup::Place place_;
  RemoteStack stack_;
  bool exact_ = true;  // ip is the next instruction, not a return address
  bool first_ = true;  // di still has the thread's value
  bool by_frame_pointer_ = false;
  bool stopped_ = false;
};

}  // namespace

RemoteStack walk_remote_stack(std::uint32_t tgid, const UserRegisters& registers,
                              const UnwindLookup& lookup, StackMemory& memory) {
  return Walk(tgid, registers, lookup, memory).run();
}

}  // namespace offcpud
