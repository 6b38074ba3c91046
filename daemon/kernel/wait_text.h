// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "pipeline/stall.h"

namespace offcpud {

// Identifies a block by its thread (tid of the initial PID namespace) and its beginning
// (CLOCK_MONOTONIC).
struct BlockId {
  std::uint32_t tid = 0;
  std::uint64_t since_ns = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): what clang-tidy 14 makes of the comparison
  friend auto operator<=>(const BlockId&, const BlockId&) = default;
};

// Adds what describe_stacks and describe_calls (bpf/describe.bpf.c) wrote. Ignores lines with an
// unknown keyword or too few values.
void add_wait_text(std::string_view text, std::map<BlockId, WaitDetail>& details);

// The path as people read it: after its directory if it is relative, with "..." for what is cut or
// not known. In UTF-8.
std::string file_of(const CallPath& path);

// Whom a call that opens a FIFO waits for: see WaitDetail::fifo_lacks.
std::string fifo_end_of(const WaitDetail& detail);

// Adds what describe_file wrote about the descriptor of one system call.
void add_file_text(std::string_view text, WaitDetail& detail);

}  // namespace offcpud
