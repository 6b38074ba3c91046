// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/word_hash.h"
#include "peers/device_names.h"
#include "pipeline/wait_window.h"
#include "sampler/examined_stack.h"
#include "sampler/place_pasts.h"
#include "sampler/process_owners.h"
#include "sampler/stack_room.h"
#include "sites/place_classes.h"
#include "sites/wait_chains.h"
#include "sites/wait_classifier.h"
#include "sites/waker_evidence.h"
#include "stacks/interval_chains.h"
#include "stacks/sampled_snapshot.h"
#include "stacks/stratum_times.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Names the stacks of windows and says what their waits were for. Remembers which blocks last, and
// what each stack said, so that a stack that comes again costs one look-up. When there is no room,
// the stacks of the user who holds most are forgotten, and examined again when they come; stacks of
// lasting blocks only lose their functions. Used by one thread.
class WaitExaminer {
 public:
  // The most memory for stacks and what they said, including stacks of lasting blocks.
  static constexpr std::size_t kMostBytes = std::size_t{24} << 20;
  // After this time a stack is examined again: its process may have loaded other code.
  static constexpr std::chrono::seconds kGoodFor{120};
  // The same for a stack that was not certain about what it waits for: a name may have been
  // missing.
  static constexpr std::chrono::seconds kUnsureFor{15};
  // A stack without samples for this long is forgotten: its process may have ended.
  static constexpr std::chrono::seconds kKeptUnused{30};
  // The last answer of a chain holds for this long while nothing is known of the chain's next
  // process: a shell that runs commands sometimes has just begun to wait for a new one.
  static constexpr std::chrono::seconds kChainHolds{30};
  // A younger block says nothing of its place if no block of the process that it waits for is seen:
  // that process may begin to wait a moment later, as commands of a shell do.
  static constexpr std::chrono::seconds kEarly{1};

  // What it needs for one window.
  struct Means {
    FunctionNames& names;  // of the programs' functions now
    WaitClassifier& classifier;
    WakerEvidence& evidence;  // of snapshots; it only asks
    PlaceClasses& places;     // of snapshots; it adds what other processes say
    ProcessOwners& owners;
    StratumTimes& strata;                    // it adds the waits that ended
    std::shared_ptr<const SiteRules> rules;  // if they are other ones than in the last call, all
                                             // but the past of places is forgotten
    MonotonicTime now;
  };
  std::shared_ptr<const WaitWindow> examine(const WaitInterval& interval, const Means& means);

  struct WindowSums;  // of the window that is being examined; for wait_examiner.cpp

  // What it holds between windows.
  [[nodiscard]] std::size_t bytes() const { return room_.bytes(); }
  // Stacks whose names of functions were shortened or dropped for lack of room; since the start.
  [[nodiscard]] std::uint64_t names_left_out() const { return shortened_ + room_.shrunk(); }
  // PlacePasts::dropped()
  [[nodiscard]] std::uint64_t places_dropped() const { return pasts_.dropped(); }

 private:
  using Key = std::vector<std::uint64_t>;
  using Examined = std::shared_ptr<ExaminedStack>;
  struct Known {
    Known(const Examined& examined, MonotonicTime now, MonotonicTime good_until, StackRoom& room,
          const Key& key)
        : stack(examined),
          used(now),
          until(good_until),
          held(room, stack->owner(), sizeof(Known) + key.size() * sizeof(key.front())) {}

    Examined stack;
    MonotonicTime used, until;
    StackRoom::HeldKey held;
  };

  // A block that lasts.
  struct Lasting {
    Examined stack;
    EvidenceVerdict followed{};  // what a chain said of it last
    MonotonicTime holds_until{};
  };

  Examined examine(const WaitSum& sum, const WaitInterval& interval, const Means& means);
  [[nodiscard]] EvidenceVerdict by_past(const ExaminedStack::Of& of, const Means& means) const;
  Examined remember(const Key& key, Examined stack, MonotonicTime now);
  [[nodiscard]] Lasting known_of(const SeenBlock& block,
                                 const std::vector<Examined>& examined) const;
  [[nodiscard]] std::shared_ptr<const UsualWaits> usual_of(const SeenBlock& block,
                                                           const ExaminedStack& stack,
                                                           const ExaminedWait& wait,
                                                           bool is_followed) const;
  void add_blocks(WaitWindow& window, WindowSums& sums, const WaitInterval& interval,
                  const std::vector<Examined>& examined, const Means& means);
  void add_chains(WaitWindow& window, WindowSums& sums, const WaitInterval& interval,
                  const std::vector<Examined>& examined, const Means& means);
  void use(const Means& means);
  void learn(const WaitInterval& interval, const std::vector<Examined>& examined);
  void make_room();

  StackRoom room_;               // of the stacks below and of the window that is being examined
  std::uint64_t shortened_ = 0;  // stacks
  std::shared_ptr<const SiteRules> rules_;
  std::unordered_map<Key, Known, WordsHash> known_;  // by WaitSum::key
  PlacePasts pasts_;
  DeviceNames devices_;
  std::vector<ChainedBlock> chained_;               // of the last window
  MonotonicTime chained_from_{}, chained_until_{};  // its beginning and end
  bool chained_all_ = false;                        // no block is missing there
  // Blocks of the last window, by thread and beginning.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Lasting> blocks_;
};

}  // namespace offcpud
