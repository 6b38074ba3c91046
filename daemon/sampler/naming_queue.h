// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sampler/process_names.h"
#include "sampler/process_owners.h"
#include "sampler/wait_examiner.h"
#include "sites/place_classes.h"
#include "sites/site_rules_board.h"
#include "sites/wait_classifier.h"
#include "sites/waker_evidence.h"
#include "stacks/sampled_snapshot.h"
#include "stacks/stratum_times.h"
#include "symbols/symbol_worker.h"

namespace offcpud {

// Sampled intervals that wait until the thread of a SymbolWorker has named their functions and said
// what their blocks were for. Used by one thread; the worker and the clock must outlive it.
class NamingQueue {
 public:
  using Done = std::function<void(Result<SampledSnapshot>)>;
  // The most intervals that may wait to be named: those of all windows, which may end together, and
  // some older ones.
  static constexpr int kMost = 10;

  // The worker's thread uses `runtime`, and takes the rules for each interval from `sites`.
  NamingQueue(SymbolWorker& symbols, std::shared_ptr<RuntimeNames> runtime,
              std::shared_ptr<const SiteRulesBoard> sites, const Clock& clock)
      : symbols_(symbols),
        runtime_(std::move(runtime)),
        sites_(std::move(sites)),
        classifier_(std::make_shared<WaitClassifier>(sites_->rules())),
        clock_(clock) {}

  // True if kMost intervals wait: the thread hangs in a file system or cannot keep up. Memory would
  // fill up if more could wait.
  [[nodiscard]] bool is_full() const { return *waiting_ >= kMost; }

  // Names the functions of an interval once the files that it needs are read, or after `patience`
  // with the names known then. `done` receives the snapshot on the worker's thread; it is never
  // called if that thread has ended.
  void name(SampledInterval interval, std::chrono::milliseconds patience, Done done);

  // Does the same in order to find what the waits of an interval were for. Jobs of the two kinds
  // neither delay nor hurry each other.
  using Examined = std::function<void(std::shared_ptr<const WaitWindow>)>;
  void examine(WaitInterval interval, std::chrono::milliseconds patience, Examined done);
  // The most intervals that may wait to be examined. With more, the next interval becomes longer
  // instead.
  static constexpr int kMostExamined = 2;
  [[nodiscard]] bool is_full_of_waits() const { return *examining_ >= kMostExamined; }
  // The rules by which intervals are examined from now on.
  [[nodiscard]] std::shared_ptr<const SiteRules> rules() const { return sites_->rules(); }

  // What waits were for, in all intervals examined since the last call.
  [[nodiscard]] StratumTimes take_stratum_times() { return strata_->take(); }

  // Reads the names of code made at run time, if the stack contains such code; once for each
  // process. Such code can be named only while its process runs.
  void read_runtime_names(const BlockSum& sum);
  // Reads them again for later stacks, because programs go on making code.
  void forget_runtime_names() { runtime_loads_.clear(); }

  // Evidence of wakers and places that was dropped or refused for lack of room; since the start.
  [[nodiscard]] std::uint64_t evidence_dropped() const { return *evidence_dropped_; }
  // WaitExaminer::names_left_out().
  [[nodiscard]] std::uint64_t names_left_out() const { return *names_left_out_; }

  // Waits until all intervals are named, but no longer than `patience`.
  void finish(std::chrono::milliseconds patience);

 private:
  [[nodiscard]] std::vector<ObjectId> loads_of(const SampledInterval& interval) const;
  [[nodiscard]] std::vector<ObjectId> loads_of(const WaitInterval& interval) const;
  void add_runtime(std::unordered_set<ObjectId>& loads, const offcpud_sample& sample) const;

  SymbolWorker& symbols_;
  std::shared_ptr<RuntimeNames> runtime_;
  std::shared_ptr<const SiteRulesBoard> sites_;
  // Used by the worker's thread.
  std::shared_ptr<WaitClassifier> classifier_;
  std::shared_ptr<WaitExaminer> examiner_ = std::make_shared<WaitExaminer>();
  std::shared_ptr<ProcessOwners> owners_ = std::make_shared<ProcessOwners>();
  std::shared_ptr<WakerEvidence> evidence_ = std::make_shared<WakerEvidence>();
  std::shared_ptr<PlaceClasses> places_ = std::make_shared<PlaceClasses>();
  std::shared_ptr<std::atomic<std::uint64_t>> evidence_dropped_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::shared_ptr<StratumTimesBoard> strata_ = std::make_shared<StratumTimesBoard>();
  std::shared_ptr<std::atomic<std::uint64_t>> names_left_out_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  const Clock& clock_;
  std::shared_ptr<std::atomic<int>> waiting_ = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> examining_ = std::make_shared<std::atomic<int>>(0);
  // The load that reads the names of a process, by the process and its start.
  std::map<std::pair<std::uint32_t, std::uint64_t>, ObjectId> runtime_loads_;
};

}  // namespace offcpud
