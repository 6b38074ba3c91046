// SPDX-License-Identifier: Apache-2.0
#include "symbols/jumped_code.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "elf/byte_source.h"
#include "elf/elf_file.h"

namespace offcpud {
namespace {

// Intel's manual, volume 2: CALL rel32, JMP rel32, and Jcc rel32 with its two bytes.
constexpr std::uint8_t kCall = 0xe8, kJump = 0xe9, kTwoBytes = 0x0f;
constexpr std::size_t kDistance = sizeof(std::int32_t);

bool is_jump_if(std::uint8_t second) {
  return second >= 0x80 && second <= 0x8f;
}

// A function with a name.
struct Named {
  std::uint64_t start = 0;
  std::uint32_t size = 0;  // 0: unknown
  bool is_inner = false;   // the name begins with an underscore
  std::uint32_t length = 0, name = 0;

  // The smaller one has the better name. Compares no texts, which may be many and long.
  [[nodiscard]] auto rank() const { return std::tie(is_inner, length, start, name); }
};

// All functions with a name, one for each start.
std::vector<Named> named_functions(FunctionList& list) {
  std::vector<Named> named;
  named.reserve(list.functions().size());
  for (const FunctionList::Function& each : list.functions()) {
    const std::string_view name = list.name(each);
    named.push_back({.start = each.start,
                     .size = each.size,
                     .is_inner = name.starts_with('_'),
                     .length = static_cast<std::uint32_t>(name.size()),
                     .name = each.name});
  }
  std::ranges::sort(named, [](const Named& a, const Named& b) {
    return std::tie(a.start, b.size) < std::tie(b.start, a.size) ||
           (a.start == b.start && a.size == b.size && a.rank() < b.rank());
  });
  // std::ranges::unique of libstdc++ 12 does not compile with clang 14.
  const auto same = std::unique(named.begin(), named.end(),
                                [](const Named& a, const Named& b) { return a.start == b.start; });
  named.erase(same, named.end());
  return named;
}

// Code without a symbol.
struct Unnamed {
  AddressRange code;
  const Named* jumps_there = nullptr;
  bool is_shared = false;  // it is called, or reached by a jump of other code without a symbol
};

std::uint64_t start_of(const Unnamed& each) {
  return each.code.start;
}

// Finds who calls and who jumps to code without a symbol.
class JumpedCode {
 public:
  JumpedCode(FunctionList& list, std::span<const AddressRange> frames, const AddressRange& text)
      : named_(named_functions(list)) {
    for (const AddressRange& frame : frames) {
      const bool is_here = frame.start >= text.start && frame.end <= text.end;
      if (is_here && frame.start < frame.end && at(frame.start) == nullptr) {
        unnamed_.push_back({.code = frame});
      }
    }
    std::ranges::sort(unnamed_, {}, start_of);
  }

  [[nodiscard]] const std::vector<Unnamed>& unnamed() const { return unnamed_; }

  // Looks at whatever may be an instruction that calls or jumps. Bytes that only look like one
  // seldom hit the start of a function.
  void look_at(std::span<const std::uint8_t> code, std::uint64_t address) {
    for (std::size_t i = 0; i + 1 + kDistance <= code.size(); ++i) {
      if (code[i] == kCall || code[i] == kJump) {
        reach(code.subspan(i + 1), address + i, address + i + 1, code[i] == kCall);
      } else if (code[i] == kTwoBytes && is_jump_if(code[i + 1])) {
        reach(code.subspan(i + 2), address + i, address + i + 2, false);
      }
    }
  }

 private:
  // The function that has the address, of those that start last. One of unknown size has only its
  // first byte.
  [[nodiscard]] const Named* at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(named_, address, {}, &Named::start);
    if (after == named_.begin()) return nullptr;
    const Named& before = *std::prev(after);
    return address - before.start < std::max(before.size, 1U) ? &before : nullptr;
  }

  // An instruction at `from`, whose distance is at `field`.
  void reach(std::span<const std::uint8_t> bytes, std::uint64_t from, std::uint64_t field,
             bool is_call) {
    std::int32_t distance = 0;
    if (bytes.size() < kDistance) return;
    std::memcpy(&distance, bytes.data(), kDistance);
    const std::uint64_t to = field + kDistance + static_cast<std::uint64_t>(distance);
    const auto reached = std::ranges::lower_bound(unnamed_, to, {}, start_of);
    if (reached == unnamed_.end() || reached->code.start != to) return;
    if (from >= reached->code.start && from < reached->code.end) return;
    const Named* const jumps = at(from);
    if (is_call || jumps == nullptr) {
      reached->is_shared = true;
    } else if (reached->jumps_there == nullptr || jumps->rank() < reached->jumps_there->rank()) {
      reached->jumps_there = jumps;
    }
  }

  std::vector<Named> named_;
  std::vector<Unnamed> unnamed_;
};

}  // namespace

void add_jumped_code(const ElfFile& file, std::span<const AddressRange> frames,
                     FunctionList& list) {
  const ElfSection* const text = file.section(".text");
  const bool is_fit = file.machine() == EM_X86_64 && file.address_size() == 8 && text != nullptr &&
                      text->size <= kMostJumpingCode && frames.size() <= kMostJumpingFunctions &&
                      list.functions().size() <= kMostJumpingFunctions;
  if (!is_fit) return;
  JumpedCode jumped(list, frames, {text->address, text->address + text->size});
  if (jumped.unnamed().empty()) return;
  const auto code = file.source().read(text->offset, text->size, kMostJumpingCode);
  if (!code) return;
  jumped.look_at(*code, text->address);
  for (const Unnamed& each : jumped.unnamed()) {
    if (each.is_shared || each.jumps_there == nullptr) continue;
    std::string name(list.names().at(each.jumps_there->name & ~FunctionList::kPreferred));
    name += kTailCall;
    if (!list.add(each.code.start, each.code.end - each.code.start, name, false)) return;
  }
}

}  // namespace offcpud
