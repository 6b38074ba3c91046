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

// The perf maps of processes, limited by number and bytes: the least recently used is dropped
// first. Owned by one thread.
class PerfMaps {
 public:
  using Process = PerfMapProcess;
  struct Limits {
    std::size_t processes = 256;
    std::size_t bytes = 32 << 20;
  };

  // Called once for each process whose map exceeds the limits of one map and is used in part.
  using Refused = std::function<void(const std::string& path, const ObjectRefusals& causes)>;

  PerfMaps(std::unique_ptr<PerfMapFinder> finder, const Limits& limits, Refused refused = {})
      : finder_(std::move(finder)), limits_(limits), refused_(std::move(refused)) {}

  // Reads the names of a process now, if its file has changed. Call it when code outside of any
  // file is first seen in the process, and again before the process ends, if that is known.
  void capture(const Process& process, MonotonicTime now);

  // The name in the form in which it may be shown. Captures the process first if that was not done
  // yet.
  [[nodiscard]] std::optional<std::string> find(const Process& process, std::uint64_t address,
                                                MonotonicTime now);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t processes() const { return known_.size(); }

 private:
  struct Known {
    Process process;
    PerfMapFile file;
    std::size_t bytes = 0;  // included in bytes_
    bool told = false;      // that the map is used in part
  };
  using List = std::list<Known>;  // most recently used first

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
