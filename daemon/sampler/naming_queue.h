// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sampler/process_names.h"
#include "stacks/sampled_snapshot.h"
#include "symbols/symbol_worker.h"

namespace offcpud {

// What was sampled and waits for the names of its functions, which the thread of a SymbolWorker
// looks up. Used by one thread; the worker and the clock must outlive it.
class NamingQueue {
 public:
  using Done = std::function<void(Result<SampledSnapshot>)>;
  // Intervals that wait, at most: those of all windows, which may end at once, and some from
  // before.
  static constexpr int kMost = 10;

  // `runtime` is used by the worker's thread.
  NamingQueue(SymbolWorker& symbols, std::shared_ptr<RuntimeNames> runtime, const Clock& clock)
      : symbols_(symbols), runtime_(std::move(runtime)), clock_(clock) {}

  // When kMost wait already, the thread hangs in a file system or cannot keep up: no more may wait,
  // or they would fill the memory.
  [[nodiscard]] bool is_full() const { return *waiting_ >= kMost; }

  // Names what was sampled once the files that it needs are read, or after `patience` with what
  // there is then. `done` gets the snapshot on the worker's thread, or never if that has ended.
  void name(SampledInterval interval, std::chrono::milliseconds patience, Done done);

  // The names of code that a program makes as it runs can only be read while it does: reads them if
  // the stack is in such code, once for each process.
  void read_runtime_names(const BlockSum& sum);
  // And once more, as programs go on making code.
  void forget_runtime_names() { runtime_loads_.clear(); }

  // Waits until all are named, or for so long.
  void finish(std::chrono::milliseconds patience);

 private:
  [[nodiscard]] std::vector<ObjectId> loads_of(const SampledInterval& interval) const;

  SymbolWorker& symbols_;
  std::shared_ptr<RuntimeNames> runtime_;
  const Clock& clock_;
  std::shared_ptr<std::atomic<int>> waiting_ = std::make_shared<std::atomic<int>>(0);
  // By process and its start: the number by which its names are read.
  std::map<std::pair<std::uint32_t, std::uint64_t>, ObjectId> runtime_loads_;
};

}  // namespace offcpud
