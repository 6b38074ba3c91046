// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

enum class FlameKind { Root, Process, User, Kernel, Separator, Waker, InProgress };

struct FlameFrame {
  std::string name;
  std::string object;  // file name of the object; empty when there is none
  FlameKind kind = FlameKind::Root;
};

// Off-CPU time by stack. Nodes refer to each other by index; number 0 is the root, and a node has
// the amounts of all that is above it.
struct FlameTree {
  struct Node {
    std::uint32_t frame = 0;              // index into frames
    std::vector<std::uint32_t> children;  // by name
    std::uint64_t ns = 0;
    std::uint64_t before_ns = 0;    // of a difference: in the earlier range
    std::uint64_t progress_ns = 0;  // of ns: waits that have not ended
    double episodes = 0;
  };

  std::vector<FlameFrame> frames;
  std::vector<Node> nodes;
  bool is_difference = false;
  std::string origin;  // of what time it is, and of how many snapshots
};

// From an answer of /api/v1/snapshots/merge or /difference. With `wakers` what ended each wait
// follows above it, upside down as offwaketime prints it. Error: it is no such answer.
Result<FlameTree> flame_tree(const std::string& json, bool wakers);

}  // namespace offcpud
