// SPDX-License-Identifier: Apache-2.0
// What the tests of WaitExaminer share: one that examines windows of made-up blocks.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sampler/wait_examiner.h"
#include "support/fake_clock.h"
#include "support/known_cgroups.h"
#include "support/rules_of.h"
#include "support/sampled_blocks.h"

namespace offcpud::test {

using namespace std::chrono_literals;

inline constexpr const char* kRules = R"(
sites:
  - {name: shop-lock, for: lock, match: "... < shop::f1"}
  - {name: shop-pool, for: work, match: "... < shop::f2"}
  - {name: shop-asks, for: answer, ask: socket, match: "... < shop::f3"}
  - {name: shop-wait, for: unknown, ask: waker, match: "... < shop::f6"}
  - {name: shop-child, for: answer, ask: child, match: "... < shop::f7"}
  - {name: python-gil, for: lock, match: "... < shop::f11"}
  - {name: kernel-lock, for: lock, kernel: "... < mutex_lock"}
  - {name: kernel-work, for: work, kernel: "... < do_something"}
  - {name: shop-till, for: answer, match: "... < shop::f8", interpreted: "pay@till.py"}
)";

// Functions called "shop::f" and their address, in "shopd".
class NumberedNames final : public FunctionNames {
 public:
  StackFrame name(const offcpud_sample& /*sample*/, const LocatedFrame& frame,
                  bool /*waker*/) override {
    ++asked;
    StackFrame named;
    named.function = "shop::f" + std::to_string(frame.address) + more;
    named.object = "shopd";
    return named;
  }
  int asked = 0;
  std::string more;  // at the end of each name
};

class WaitExaminerTest : public testing::Test {
 protected:
  static std::vector<LocatedFrame> located(const BlockRecord& record) {
    std::vector<LocatedFrame> frames;
    for (const __u64 address : record.user) {
      frames.emplace_back().address = address;
    }
    return frames;
  }
  void ended(const BlockRecord& record) {
    cgroup_paths_.add(record.sample.cgroup_id);
    if (WaitSum* const sum = sums_.add(record.block())) sum->user = located(record);
  }
  void lasting(BlockRecord record, bool known = false) {
    record.flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
    if (known) return sums_.note_known(record.sample);
    ended(record);
    sums_.note(record.sample);
  }
  std::shared_ptr<const WaitWindow> examine(std::chrono::seconds later = 10s) {
    clock_.advance(later);
    WaitInterval interval{.begin = clock_.wall(), .end_at = clock_.now(), .cgroups = cgroup_paths_};
    interval.waits = sums_.drain();
    interval.holders = std::exchange(holders_, {});
    interval.unheld = std::exchange(unheld_, {});
    interval.gil_waits = std::exchange(gil_waits_, {});
    interval.intervals.fill(sampling_interval_);
    for (const auto& [cgroup_id, waits] : std::exchange(without_room_, {})) {
      interval.waits.overflow[cgroup_id] += waits;
    }
    StackFrame kernel;
    kernel.function = "do_something";
    kernel.object = "[kernel]";
    kernel.kernel = true;
    interval.kernel_names.emplace(9, kernel);
    return examiner_.examine(interval, {.names = names_,
                                        .classifier = classifier_,
                                        .evidence = evidence_,
                                        .places = places_,
                                        .owners = owners_,
                                        .strata = strata_,
                                        .rules = rules_,
                                        .now = clock_.now()});
  }

  FakeClock clock_;
  KnownCgroups cgroups_{{1, "a"}, {2, "b"}};
  CgroupPaths cgroup_paths_{cgroups_.directory()};
  std::shared_ptr<const SiteRules> rules_ = rules_of(kRules);
  WaitClassifier classifier_{rules_};
  WakerEvidence evidence_;
  PlaceClasses places_;
  // Processes are their users'.
  ProcessOwners owners_{[](std::uint32_t tgid) { return ShareOwner(tgid); }};
  StratumTimes strata_;
  NumberedNames names_;
  WaitSums sums_{[](const WaitSums::Asked&) { return ShareOwner(); }};
  std::chrono::nanoseconds sampling_interval_{};
  HeldBlocks holders_;                                  // of the next window
  UnheldBlocks unheld_;                                 // of the next window
  std::vector<GilWait> gil_waits_;                      // of the next window
  std::map<std::uint64_t, WaitEstimate> without_room_;  // of the next window, by cgroup
  WaitExaminer examiner_;
};

}  // namespace offcpud::test
