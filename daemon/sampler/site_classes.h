// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "sampler/process_owners.h"
#include "sampler/site_place.h"
#include "sites/place_classes.h"
#include "sites/wait_classifier.h"
#include "sites/waker_evidence.h"
#include "stacks/sampled_snapshot.h"

namespace offcpud {

// The evidence of wakers and places, and how a snapshot uses it.
struct EvidenceInUse {
  WakerEvidence& evidence;
  PlaceClasses& places;  // takes what wakers and named waits say, and has what chains say
  ProcessOwners& owners;
  // True for snapshots, which have every sample once. A profile only asks.
  bool learns = false;
  MonotonicTime now;  // the end of the snapshot's interval
};

// Classifies the entries of one snapshot by the rules that the classifier uses, and by evidence of
// files and wakers where a rule asks for it. An entry has the threads of one name: it is for what
// most of their time is for. Each frame of the snapshot is looked up once. Valid during one job of
// the thread that owns the classifier.
class SiteClasses final : public WaitClasses {
 public:
  SiteClasses(WaitClassifier& classifier, EvidenceInUse evidence)
      : classifier_(classifier), evidence_(evidence) {}

  void classify(const Snapshot& snapshot, StackEntry& entry, const BlockSum& sum,
                bool own_timer) override;
  void decide(Snapshot& snapshot) override;

 private:
  struct KnownFrame {
    FrameKind kind = 0;      // kind + 1; 0: not needed yet
    std::uint64_t name = 0;  // name_hash()
    PlaceNumber::Part part = PlaceNumber::Part::Any;
  };
  // Waits of an entry, by thread and waker.
  struct EntryWaits {
    std::size_t entry = 0;
    SiteQuestion ask = SiteQuestion::None;
    ProcessPlace at;
    std::size_t first = 0, count = 0;  // in waits_
  };

  // Waits of one thread at one place, of an interpreter if any of them has interpreted functions.
  struct NamedWaits {
    ShareOwner owner;
    PlaceClasses::Times times{};  // of those whose functions are known
    double unnamed_ns = 0;        // of the others
  };

  void number(const Snapshot& snapshot, std::span<const std::uint32_t> frames,
              std::vector<FrameKind>& kinds);
  void number_interpreted(const InterpretedStack* stack);
  void note_named(const StackEntry& entry, const ProcessPlace& at, const BlockSum& sum);
  void note_unnamed(const ProcessPlace& at, const BlockSum& sum);
  [[nodiscard]] PlaceNumber place_of(const StackEntry& entry, const BlockSum& sum) const;
  void add_waits(const BlockSum& sum, const SeenWaits& all);
  using Times = PlaceClasses::Times;

  [[nodiscard]] Times judge(const EntryWaits& entry) const;
  void tell_named();
  void tell_places();
  [[nodiscard]] const Times* said_of(const ProcessPlace& at) const;

  WaitClassifier& classifier_;
  EvidenceInUse evidence_;
  std::vector<KnownFrame> known_;  // by frame of the snapshot
  // Of the entry in hand; kept for their room.
  std::vector<FrameKind> user_, kernel_, interpreted_;
  std::vector<SeenWaits> waits_;              // of all entries
  std::vector<EntryWaits> asking_;            // entries that evidence of wakers decides
  std::map<ProcessPlace, NamedWaits> named_;  // by place_of_thread()
};

}  // namespace offcpud
