// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/heartbeat.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// The thread that owns the names of objects, so that neither a pass nor an event of a new mapping
// waits for a symbol table: those only hand descriptors over. Its methods may be called by any
// thread and wait for nothing but each other.
//
// The files come from containers, and a file system that hangs (FUSE, NFS) stops this thread in the
// middle of a read: then names are missing, and nothing else. The destructor drops what waits,
// gives a running job `kGrace` to end, and otherwise leaves the thread behind, to end with the
// process.
class SymbolWorker {
 public:
  struct Limits {
    SymbolCache::Limits cache = {};
    // Descriptors held for objects that wait to be read; beyond that, objects are refused.
    std::size_t waiting = 128;
  };
  static constexpr std::chrono::milliseconds kGrace{500};

  // Called by the thread, which may outlive the worker.
  struct Reports {
    std::function<void()> started;  // first of all
    // Something of the object at this path was left out, as it asked for more than SymbolLimits.
    std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
    std::shared_ptr<Heartbeat> heartbeat;  // of the thread; may be null
  };
  explicit SymbolWorker(const Limits& limits, Reports reports = {});
  SymbolWorker(const SymbolWorker&) = delete;
  SymbolWorker& operator=(const SymbolWorker&) = delete;
  ~SymbolWorker();

  // The number of the object that `file` is open on: always the same one for the same device,
  // inode, size and time of change. It is read soon, if it was not, or if its functions were
  // forgotten, or if it is to be read again: as there is a root now to look for its debug file in.
  // Nothing if the descriptor is no regular file.
  enum class Known : std::uint8_t { AsItIs, ReadAgain };
  std::optional<ObjectId> offer(ObjectFile file, Known known = Known::AsItIs);

  // Runs `job` on the thread, after what was offered and posted before. It may use the cache, which
  // must not be kept; an exception ends the daemon. False if the worker has stopped.
  // `what` is a literal for the heartbeat.
  using Job = std::function<void(SymbolCache&)>;
  bool post(Job job, const char* what = "naming functions");

  struct Counts {
    std::uint64_t loaded = 0;
    std::uint64_t refused = 0;  // for too many waiting; they are read when offered again
    std::uint64_t failed = 0;   // not readable, or no ELF file
    std::uint64_t forgotten = 0;
    std::size_t waiting = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Counts counts() const;

  // Objects that jobs asked for since the last call and that are not there, as they were refused or
  // forgotten: offer them again, if a process still maps them. A few hundred at most.
  [[nodiscard]] std::vector<ObjectId> take_wanted();

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace offcpud
