// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/object_refusal.h"
#include "symbols/perf_map_file.h"

namespace offcpud {

// The perf maps of all processes that were asked for, bounded by number and bytes: what was not
// asked for the longest goes first. Owned by one thread.
class PerfMaps {
 public:
  using Process = PerfMapProcess;
  struct Limits {
    std::size_t processes = 256;
    std::size_t bytes = 32 << 20;
  };

  // Told once of each process whose map is used in part, as it is beyond the limits of one.
  using Refused = std::function<void(const std::string& path, const ObjectRefusals& causes)>;

  PerfMaps(std::unique_ptr<PerfMapFinder> finder, const Limits& limits, Refused refused = {})
      : finder_(std::move(finder)), limits_(limits), refused_(std::move(refused)) {}

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
    PerfMapFile file;
    std::size_t bytes = 0;  // as counted in bytes_
    bool told = false;      // that it is cut
  };
  using List = std::list<Known>;  // most recently asked for first

  Known& touch(const Process& process);
  void count(Known& known);

  std::unique_ptr<PerfMapFinder> finder_;
  Limits limits_;
  List known_;
  std::map<Process, List::iterator> places_;
  std::size_t bytes_ = 0;
  Refused refused_;
};

}  // namespace offcpud
