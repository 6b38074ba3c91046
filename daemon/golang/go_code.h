// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace offcpud {

// What machine code of x86-64 says about the data that it uses. The code is not decoded from its
// beginning on; instructions of a few forms are looked for at each byte, so what is found has to be
// checked. The bytes are untrusted.

// Variables that the code reads, writes or takes the address of, by their distance from the
// instruction (MOV and LEA with registers of 8 bytes), without repetition, 32 at most. `at`: the
// address of the code.
std::vector<std::uint64_t> variables_in(std::span<const std::byte> code, std::uint64_t at);

// The offset of the first field of 4 bytes that the code reads from a struct. nullopt: none.
std::optional<std::uint32_t> first_field_in(std::span<const std::byte> code);

// The offset of the one field of 1 byte that the code reads from a struct, and writes back.
// nullopt: there is none, or there are several.
std::optional<std::uint32_t> counter_in(std::span<const std::byte> code);

}  // namespace offcpud
