// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sites/waker_evidence.h"

namespace offcpud {

// A block that lasts. Numbers are those of the initial PID namespace.
struct LastingBlock {
  enum class Awaits : std::uint8_t {
    Nothing,  // as far as rules know, no other process must act
    Child,
    Pipe,  // what comes through a pipe
  };

  std::uint32_t tid = 0, tgid = 0, parent_tgid = 0;
  Awaits awaits = Awaits::Nothing;
  std::uint32_t holder_tgid = 0;  // of a pipe: a process that can write to it; 0: not known
  bool is_own_pipe = false;       // its own process can write to it, too
  EvidenceVerdict verdict;
  // What a chain said of this same block before, for use if no chain says anything now.
  std::optional<EvidenceVerdict> earlier{};
  bool is_followed = false;  // the verdict comes from a chain that follow_chains() found
};

// Sets the verdict of blocks that wait for another process, by what the main thread of that process
// waits for, and so on along the chain. A process is idle only if none of its other threads waits
// for something actionable or unknown; if one does, nobody can tell. If `blocks` has several of one
// thread, the last one counts.
//
// Who waits for children waits for
// - an `answer` if one of them waits for something actionable;
// - `work` or `timer` if all of them are idle, `work` if both are there;
// - `unknown` if nobody can tell what one of them waits for.
// Who reads a pipe, unless it is known to wait for an answer, waits for
// - an `answer` if the process at the other end waits for something actionable, or for a child
//   (but if that process is a child of the reader, what its children wait for decides);
// - `work` if that is idle, or if only the reader's own process can write;
// - `unknown` if nobody can tell.
//
// A process whose main thread has no block here runs, or waits only for moments, and says nothing.
// If no process says anything, the verdict stays; but if that is `unknown`, `earlier` takes its
// place.
void follow_chains(std::span<LastingBlock> blocks);

}  // namespace offcpud
