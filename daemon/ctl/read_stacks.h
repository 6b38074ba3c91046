// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"

namespace offcpud {

struct ReadFrame {
  std::string function;
  std::string object;  // empty: not known

  friend bool operator==(const ReadFrame&, const ReadFrame&) = default;
  friend bool operator<(const ReadFrame& a, const ReadFrame& b) {
    return std::tie(a.function, a.object) < std::tie(b.function, b.object);
  }
};

// A stack of a file, root first.
struct ReadStack {
  std::string label;                  // what it is known to wait for; empty: not known
  std::string exe;                    // name of the process, or of the executable
  std::optional<std::size_t> reason;  // enum offcpud_hist_kind; none: the file has none
  std::vector<ReadFrame> user, kernel;
  std::uint64_t us = 0;
  std::size_t line = 0;  // 1-based; of JSON the row
};

// Reads what offcpud writes of stacks:
// - folded text, "comm;user;..;-;kernel_[k];.. 1234", which has neither objects nor reasons;
// - the same with both, "reason|exe;function{object};..;kernel_[k];.. 1234", before which
//   "label;program;phase;" may stand (tests/data/wait-sites);
// - JSON (docs/http.md, "Snapshots").
// Errors name the line.
Result<std::vector<ReadStack>> read_stacks(const std::string& text);

}  // namespace offcpud
