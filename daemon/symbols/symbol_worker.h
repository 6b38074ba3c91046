// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/heartbeat.h"
#include "symbols/load_queue.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// The thread that owns the names of objects, so that neither a pass nor an event of a new mapping
// waits for a symbol table: they only hand over descriptors. Any thread may call its methods, which
// wait for nothing but each other.
//
// Reader processes (daemon/reader) open files and read debug files; the files are on file systems
// of this host, so no server can block the thread. Expensive files delay only the names of their
// own user (LoadQueue). The destructor drops what waits, gives a running job `kGrace` to finish,
// and otherwise leaves the thread to end with the process.
class SymbolWorker {
 public:
  struct Limits {
    SymbolCache::Limits cache = {};
    // `waiting` also limits the held descriptors; beyond it, objects are refused.
    LoadQueue::Limits loads = {};
  };
  static constexpr std::chrono::milliseconds kGrace{500};

  // Called on the thread, which may outlive the worker.
  struct Reports {
    std::function<void()> started;  // called first
    // Part of the object at this path was left out, because it exceeded SymbolLimits.
    std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
    std::shared_ptr<Heartbeat> heartbeat;  // of the thread; may be null
  };
  explicit SymbolWorker(const Limits& limits, Reports reports = {});
  SymbolWorker(const SymbolWorker&) = delete;
  SymbolWorker& operator=(const SymbolWorker&) = delete;
  ~SymbolWorker();

  // The id of the object open at `file`: always the same for the same device, inode, size and time
  // of change. The object is read in its turn, on `owner`'s CPU time, if it was not read yet, its
  // functions were forgotten, or ReadAgain asks for it (there is now a root with its debug file).
  // Nothing: the descriptor is no regular file.
  enum class Known : std::uint8_t { AsItIs, ReadAgain };
  std::optional<ObjectId> offer(ObjectFile file, const ShareOwner& owner = {},
                                Known known = Known::AsItIs);

  // Runs `job` on the thread in its turn, as a load of this owner. Returns an id to wait for
  // (After); 0: refused. An exception ends the daemon.
  using Job = SymbolLoad::Job;
  ObjectId prepare(Job job, const char* what, const ShareOwner& owner);

  // What a job waits for before it runs.
  struct After {
    // These loads, if they wait or are in progress. Nothing: all loads that do.
    std::optional<std::vector<ObjectId>> loads;
    // The longest wait for the loads. A later job of the same line that may wait less shortens it.
    std::chrono::milliseconds patience{30'000};
    // Jobs of one line run in order. There are two lines, so that many impatient jobs in one do not
    // shorten the wait of a patient one in the other.
    enum class Line : std::uint8_t { First, Second };
    Line line = Line::First;
  };
  // Runs `job` on the thread, after earlier jobs of its line. Loads for which it waits go first,
  // then the job, then other loads. The job may use the cache but must not keep a reference; an
  // exception ends the daemon. False: the worker has stopped. `what`: a literal for the heartbeat.
  bool post(Job job, const char* what, const After& after);
  bool post(Job job) { return post(std::move(job), "naming functions", {}); }

  struct Counts {
    std::uint64_t loaded = 0;   // objects, and prepared jobs
    std::uint64_t refused = 0;  // because too many waited; such objects are read when offered again
    std::uint64_t failed = 0;   // unreadable, or no ELF file
    std::uint64_t forgotten = 0;
    std::size_t waiting = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Counts counts() const;

  // Objects that jobs needed since the last call but that were refused or forgotten: offer them
  // again if a process still maps them. A few hundred at most.
  [[nodiscard]] std::vector<ObjectId> take_wanted();

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace offcpud
