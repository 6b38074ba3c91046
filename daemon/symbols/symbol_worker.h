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
// waits for a symbol table: those only hand descriptors over. Its methods may be called by any
// thread and wait for nothing but each other.
//
// Files are opened and debug files read by processes that can be given up (daemon/reader), and lie
// on file systems of this host, so that no server can stop the thread. What a user's files cost
// delays his own names (LoadQueue). The destructor drops what waits, gives a running job `kGrace`
// to end, and otherwise leaves the thread behind, to end with the process.
class SymbolWorker {
 public:
  struct Limits {
    SymbolCache::Limits cache = {};
    // `waiting` is also how many descriptors are held; beyond that, objects are refused.
    LoadQueue::Limits loads = {};
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
  // inode, size and time of change. It is read when it is its turn, at the cost of `owner`, if it
  // was not, or if its functions were forgotten, or if it is to be read again: as there is a root
  // now to look for its debug file in. Nothing if the descriptor is no regular file.
  enum class Known : std::uint8_t { AsItIs, ReadAgain };
  std::optional<ObjectId> offer(ObjectFile file, const ShareOwner& owner = {},
                                Known known = Known::AsItIs);

  // Runs `job` on the thread when it is its turn, as a load of this owner, and gives it a number to
  // wait for (After). An exception ends the daemon. 0: refused.
  using Job = SymbolLoad::Job;
  ObjectId prepare(Job job, const char* what, const ShareOwner& owner);

  // What a job waits for.
  struct After {
    // These loads, as far as they are under way; nothing: all that are.
    std::optional<std::vector<ObjectId>> loads;
    // And for so long at most. No job that was posted before it waits longer than it does.
    std::chrono::milliseconds patience{30'000};
  };
  // Runs `job` on the thread, after what was posted before. It goes before other loads than those
  // that it waits for, and these go before the others. It may use the cache, which must not be
  // kept; an exception ends the daemon. False if the worker has stopped.
  // `what` is a literal for the heartbeat.
  bool post(Job job, const char* what, const After& after);
  bool post(Job job) { return post(std::move(job), "naming functions", {}); }

  struct Counts {
    std::uint64_t loaded = 0;   // objects, and what was prepared
    std::uint64_t refused = 0;  // for too many waiting; objects are read when offered again
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
