// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "golang/go_functions.h"

namespace offcpud {

// The functions of a goroutine that does not run.
struct GoStack {
  static constexpr std::size_t kMostFrames = 256;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10;

  enum class End : std::uint8_t {
    Root,   // all functions, down to runtime.goexit
    Depth,  // the innermost ones; there are more, or further ones lie deeper than kMostBytes
    More,   // the bytes end before the stack does
    Lost,   // this is no stack of goroutines, or it was written meanwhile
  };
  std::vector<std::uint32_t> functions;  // GoFunctions::name(), innermost first
  End end = End::Lost;
};

// Follows the stack of a goroutine that goes on at `instruction`. `stack`: its bytes from the stack
// pointer on, untrusted. `room`: how many bytes the stack has from there.
GoStack walk_go_stack(GoFunctions& functions, std::uint64_t instruction,
                      std::span<const std::byte> stack, std::uint64_t room);

}  // namespace offcpud
