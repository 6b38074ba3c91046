// SPDX-License-Identifier: Apache-2.0
#include "python/python_reader.h"

#include <cstddef>
#include <utility>

namespace offcpud {
namespace {

// One round reads what all walks need next.
void follow(ProcessMemory& memory, std::span<const PythonThread> threads,
            std::vector<PythonFrames>& walks) {
  std::vector<std::vector<std::byte>> bytes(walks.size());
  for (;;) {
    std::vector<MemoryPiece> pieces;
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < walks.size(); ++i) {
      if (walks[i].done()) continue;
      bytes[i].resize(walks[i].size());
      active.push_back(i);
      pieces.push_back({.tgid = threads[i].tgid,
                        .tid = threads[i].tid,
                        .address = walks[i].address(),
                        .to = bytes[i]});
    }
    if (active.empty()) return;
    memory.read(pieces);
    for (std::size_t i = 0; i < active.size(); ++i) {
      walks[active[i]].take(std::span(bytes[active[i]]).first(pieces[i].got));
    }
  }
}

PythonCalls calls_of(const PythonThread& thread, const PythonFrames& walk,
                     const PythonCodes& codes) {
  PythonCalls calls{.frames = {}, .end = walk.end()};
  if (calls.end == PythonFrames::End::Mismatch) return calls;
  for (const PythonCodeFrame& frame : walk.frames()) {
    auto described = codes.describe(thread.tgid, frame);
    if (!described) return {.frames = {}, .end = PythonFrames::End::Mismatch};
    calls.frames.push_back(*std::move(described));
  }
  return calls;
}

}  // namespace

std::vector<PythonCalls> read_python_calls(ProcessMemory& memory,
                                           std::span<const PythonThread> threads) {
  std::vector<PythonFrames> walks;
  walks.reserve(threads.size());
  for (const PythonThread& thread : threads) {
    walks.emplace_back(*thread.runtime, thread.thread_pointer);
  }
  follow(memory, threads, walks);
  PythonCodes codes;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    if (walks[i].end() == PythonFrames::End::Mismatch) continue;
    for (const PythonCodeFrame& frame : walks[i].frames()) {
      codes.add(threads[i].tgid, threads[i].tid, *threads[i].runtime, frame.code);
    }
  }
  codes.read(memory);
  std::vector<PythonCalls> calls;
  calls.reserve(threads.size());
  for (std::size_t i = 0; i < walks.size(); ++i) {
    calls.push_back(calls_of(threads[i], walks[i], codes));
  }
  return calls;
}

}  // namespace offcpud
