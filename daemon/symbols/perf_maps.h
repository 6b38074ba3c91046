// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "symbols/perf_map_file.h"

namespace offcpud {

// The perf maps of all processes that were asked for, bounded by number and bytes: what was not
// asked for the longest goes first. Owned by one thread.
class PerfMaps {
 public:
  struct Process {
    std::uint32_t tgid = 0;
    std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME of its leader
    friend bool operator<(const Process& a, const Process& b) {
      return std::tie(a.tgid, a.start_ns) < std::tie(b.tgid, b.start_ns);
    }
  };
  struct Limits {
    std::size_t processes = 256;  // each holds one descriptor
    std::size_t bytes = 64 << 20;
  };

  PerfMaps(std::filesystem::path proc, const Limits& limits)
      : proc_(std::move(proc)), limits_(limits) {}

  // Call it when code outside of any file is first seen in a process, and again before the
  // process is gone if that is known: its names are read now, if its file has changed.
  void capture(const Process& process, MonotonicTime now);

  // The name as it may be shown. Captures a process that was not.
  [[nodiscard]] std::optional<std::string> find(const Process& process, std::uint64_t address,
                                                MonotonicTime now);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t processes() const { return known_.size(); }

 private:
  struct Known {
    Process process;
    std::optional<PerfMapFile> file;  // none: it had exited
    std::size_t bytes = 0;            // as counted in bytes_
  };
  using List = std::list<Known>;  // most recently asked for first

  Known& touch(const Process& process);
  void count(Known& known);

  std::filesystem::path proc_;
  Limits limits_;
  List known_;
  std::map<Process, List::iterator> places_;
  std::size_t bytes_ = 0;
};

}  // namespace offcpud
