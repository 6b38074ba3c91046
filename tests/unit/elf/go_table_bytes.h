// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace offcpud {

// A section .gopclntab as Go's linker writes it, with the parts that are read.
struct GoTableBytes {
  static constexpr std::uint32_t kGo116 = 0xfffffffa, kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;

  struct Function {
    std::uint64_t begin;  // since `code`
    std::string name;
    std::vector<std::pair<int, std::uint8_t>> depths;  // depth, and for how many bytes
  };
  std::uint32_t magic = kGo118;
  std::uint64_t code = 0x1000;  // as the header has it; before 1.18 it has none
  std::vector<Function> functions;
  std::uint64_t end = 0;  // of the last one

  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    const bool old = magic == kGo116;
    std::string names(1, '\0');
    std::string depths(1, '\0');
    std::string heads;
    std::string abouts;
    const std::size_t half = old ? 8 : 4;
    const std::size_t heads_size = half * (2 * functions.size() + 1);
    const std::uint64_t base = old ? code : 0;
    for (const Function& function : functions) {
      append(heads, base + function.begin, half);
      append(heads, heads_size + abouts.size(), half);
      append(abouts, base + function.begin, half);
      append(abouts, names.size(), 4);
      append(abouts, 0, 8);
      append(abouts, function.depths.empty() ? 0 : depths.size(), 4);
      names += function.name + '\0';
      int last = -1;
      for (const auto& [depth, length] : function.depths) {
        const auto change = static_cast<std::uint32_t>(depth - last);
        append_varint(depths, change << 1 ^ (depth < last ? ~0U : 0U));
        append_varint(depths, length);
        last = depth;
      }
      depths += '\0';
    }
    append(heads, base + end, half);
    return assemble(names, depths, heads + abouts);
  }

 private:
  static void append(std::string& to, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) to += static_cast<char>(value >> (8 * i));
  }
  static void append_varint(std::string& to, std::uint32_t value) {
    for (; value > 0x7f; value >>= 7) to += static_cast<char>(value | 0x80);
    to += static_cast<char>(value);
  }

  [[nodiscard]] std::vector<std::uint8_t> assemble(const std::string& names,
                                                   const std::string& depths,
                                                   const std::string& rest) const {
    std::string all;
    append(all, magic, 4);
    append(all, 0, 2);
    append(all, 1, 1);
    append(all, 8, 1);
    append(all, functions.size(), 8);
    append(all, 0, 8);
    if (magic != kGo116) append(all, code, 8);
    const std::size_t head = all.size() + 5 * 8;
    append(all, head, 8);
    append(all, head + names.size(), 8);  // units and files have none
    append(all, head + names.size(), 8);
    append(all, head + names.size(), 8);
    append(all, head + names.size() + depths.size(), 8);
    all += names + depths + rest;
    return {all.begin(), all.end()};
  }
};

}  // namespace offcpud
