// SPDX-License-Identifier: Apache-2.0
// Stacks of threads that may have put anything anywhere: registers, memory and rules are the input.
#include <cstring>

#include "fuzz.h"
#include "text.h"
#include "unwind/remote_walk.h"
#include "unwind/unwind_rule.h"

namespace offcpud::fuzz {
namespace {

constexpr std::uint64_t kStack = 0x7ffc00001000, kCode = 0x400000;

// The stack is what is left of the input, over and over; the code has a rule for each 256 bytes.
class HostileProcess final : public StackMemory, public UnwindLookup {
 public:
  HostileProcess(std::vector<UnwindRule> rules, Bytes stack)
      : rules_(std::move(rules)), stack_(stack) {}

  bool read(std::uint64_t address, void* to, std::size_t size) override {
    ++reads;
    if (address % 64 == 63) return false;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = stack_.empty() ? std::uint8_t{0} : stack_[(address + i) % stack_.size()];
      static_cast<std::uint8_t*>(to)[i] = byte;
    }
    return true;
  }
  [[nodiscard]] std::optional<Place> place(std::uint32_t /*tgid*/,
                                           std::uint64_t address) const override {
    if (address % 7 == 3) return std::nullopt;
    return Place{address & ~0xffffULL, (address & ~0xffffULL) + 0x10000, kCode, 1};
  }
  [[nodiscard]] offcpud_unwind_rule rule(std::uint32_t /*object*/,
                                         std::uint64_t address) const override {
    if (rules_.empty()) return plain_rule(OFFCPUD_UNWIND_NO_FDE);
    return rules_[(address >> 8U) % rules_.size()];
  }
  std::size_t reads = 0;

 private:
  std::vector<UnwindRule> rules_;
  Bytes stack_;
};

}  // namespace

void test(std::string_view input) {
  ByteReader reader(bytes_of(input));
  UserRegisters registers;
  registers.ip = reader.take<std::uint64_t>();
  registers.sp = reader.take<std::uint64_t>();
  registers.bp = reader.take<std::uint64_t>();
  registers.di = reader.take<std::uint64_t>();
  std::vector<UnwindRule> rules(reader.take<std::uint8_t>() % 16);
  for (UnwindRule& rule : rules) {
    rule = reader.take<UnwindRule>();
    rule.kind %= OFFCPUD_UNWIND_NO_FDE + 1;
    rule.rbp %= OFFCPUD_UNWIND_RBP_LOST + 1;
  }
  HostileProcess process(std::move(rules), reader.rest());
  const RemoteStack stack = walk_remote_stack(1, registers, process, process);
  require(stack.addresses.size() <= OFFCPUD_UNWIND_FRAMES, "a stack has 127 frames at most");
  require(stack.end < OFFCPUD_UNWIND_ENDS, "it says why it ends");
  require(process.reads <= 8U * OFFCPUD_UNWIND_FRAMES, "a frame takes a few reads");
  require(registers.ip == 0 ? stack.addresses.empty() : stack.addresses[0] == registers.ip,
          "it begins where the thread is");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::uint8_t kind = 0; kind <= OFFCPUD_UNWIND_NO_FDE; ++kind) {
    std::string input;
    for (const std::uint64_t word : {kCode + 0x150, kStack, kStack + 0x40, kCode + 0x250}) {
      input.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RSP);
    rule.kind = kind;
    rule.cfa_offset = 16;
    input += '\1';
    input.append(reinterpret_cast<const char*>(&rule), sizeof rule);
    for (std::uint64_t i = 0; i < 32; ++i) {
      const std::uint64_t word = i % 2 == 0 ? kStack + 16 * i : kCode + 0x100 * i;
      input.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    all.push_back(input);
  }
  return all;
}

}  // namespace offcpud::fuzz
