// SPDX-License-Identifier: Apache-2.0
#include "python/python_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace offcpud {
namespace {

constexpr PythonLayout kOldest{.minor = 8,
                               .thread_key = 1396,
                               .interpreters = 32,
                               .gil = 1152,
                               .thread_id = 176,
                               .frame = 24,
                               .code = 32,
                               .previous = 24,
                               .instruction = 104,
                               .frame_bytes = 112,
                               .file = 104,
                               .name = 112,
                               .first_line = 40,
                               .lines = 120,
                               .code_bytes = 128,
                               .ascii = 48,
                               .compact = 72};

constexpr PythonLayout as_3_9() {
  PythonLayout layout = kOldest;
  layout.minor = 9;
  layout.thread_key = 588;
  layout.gil = 352;
  return layout;
}

constexpr PythonLayout as_3_10() {
  PythonLayout layout = as_3_9();
  layout.minor = 10;
  layout.instruction = 96;
  return layout;
}

constexpr PythonLayout as_3_11() {
  return {.minor = 11,
          .thread_key = 596,
          .interpreters = 40,
          .gil = 360,
          .thread_id = 152,
          .frame = 56,
          .has_cframes = true,
          .cframe_frame = 8,
          .cframe_previous = 16,
          .code = 32,
          .previous = 48,
          .instruction = 56,
          .owner = 69,
          .is_entry = 68,
          .frame_bytes = 72,
          .file = 112,
          .name = 128,
          .first_line = 72,
          .lines = 136,
          .instructions = 184,
          .code_bytes = 144,
          .ascii = 48,
          .compact = 72};
}

constexpr PythonLayout as_3_12() {
  return {.minor = 12,
          .thread_key = 1548,
          .interpreters = 40,
          .gil = 384,
          .thread_id = 136,
          .frame = 56,
          .has_cframes = true,
          .cframe_frame = 0,
          .cframe_previous = 8,
          .code = 0,
          .previous = 8,
          .instruction = 56,
          .owner = 70,
          .frame_bytes = 72,
          .file = 112,
          .name = 128,
          .first_line = 68,
          .lines = 136,
          .instructions = 192,
          .code_bytes = 144,
          .ascii = 40,
          .compact = 56};
}

constexpr PythonLayout as_3_13() {
  PythonLayout layout = as_3_12();
  layout.minor = 13;
  layout.thread_key = 2164;
  layout.interpreters = 632;
  layout.gil = 16;
  layout.thread_id = 152;
  layout.frame = 72;
  layout.has_cframes = false;
  layout.instructions = 200;
  return layout;
}

constexpr PythonLayout as_3_14() {
  PythonLayout layout = as_3_13();
  layout.minor = 14;
  layout.thread_key = 2340;
  layout.interpreters = 808;
  layout.owner = 74;
  layout.frame_bytes = 80;
  layout.instructions = 208;
  return layout;
}

constexpr std::array kLayouts{kOldest,   as_3_9(),  as_3_10(), as_3_11(),
                              as_3_12(), as_3_13(), as_3_14()};

constexpr std::string_view kCookie = "xdebugpy";

// A word of _Py_DebugOffsets and what it must be.
struct Expected {
  std::size_t word;
  std::uint32_t PythonLayout::*field;
};

// Words: 0 cookie, 1 version, 2 free_threaded, then one group for each structure, each of which
// begins with a size.
constexpr std::array kIn13{
    Expected{5, &PythonLayout::interpreters}, Expected{23, &PythonLayout::frame},
    Expected{24, &PythonLayout::thread_id},   Expected{29, &PythonLayout::previous},
    Expected{30, &PythonLayout::code},        Expected{31, &PythonLayout::instruction},
    Expected{33, &PythonLayout::owner},       Expected{35, &PythonLayout::file},
    Expected{37, &PythonLayout::name},        Expected{38, &PythonLayout::lines},
    Expected{39, &PythonLayout::first_line},  Expected{43, &PythonLayout::instructions}};
constexpr std::array kIn14{
    Expected{5, &PythonLayout::interpreters}, Expected{26, &PythonLayout::frame},
    Expected{27, &PythonLayout::thread_id},   Expected{32, &PythonLayout::previous},
    Expected{33, &PythonLayout::code},        Expected{34, &PythonLayout::instruction},
    Expected{36, &PythonLayout::owner},       Expected{40, &PythonLayout::file},
    Expected{42, &PythonLayout::name},        Expected{43, &PythonLayout::lines},
    Expected{44, &PythonLayout::first_line},  Expected{48, &PythonLayout::instructions}};

}  // namespace

const PythonLayout* find_python_layout(std::uint32_t minor) {
  const auto* const found = std::ranges::find(kLayouts, minor, &PythonLayout::minor);
  return found == kLayouts.end() ? nullptr : found;
}

DebugOffsets compare_debug_offsets(const PythonLayout& layout, std::span<const std::byte> bytes) {
  const auto word = [&](std::size_t index) {
    std::uint64_t value = ~std::uint64_t{0};
    if ((index + 1) * sizeof(value) <= bytes.size()) {
      std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
    }
    return value;
  };
  if (bytes.size() < kCookie.size() ||
      std::memcmp(bytes.data(), kCookie.data(), kCookie.size()) != 0) {
    return DebugOffsets::Differ;
  }
  if (word(2) != 0) return DebugOffsets::FreeThreaded;
  const std::uint64_t minor = word(1) >> 16U & 0xffU;
  const auto is_as_expected = [&](const Expected& expected) {
    return word(expected.word) == layout.*expected.field;
  };
  const std::span<const Expected> all = layout.minor == 13 ? std::span(kIn13) : std::span(kIn14);
  const bool agree = minor == layout.minor && std::ranges::all_of(all, is_as_expected);
  return agree ? DebugOffsets::Agree : DebugOffsets::Differ;
}

}  // namespace offcpud
