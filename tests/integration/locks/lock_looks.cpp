// SPDX-License-Identifier: Apache-2.0
#include "integration/locks/lock_looks.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "holders/futex_owner.h"
#include "kernel/feature_probe.h"

namespace offcpud::test {
namespace {

constexpr std::size_t kMistakes = 5;  // that are told

// Of struct robust_list_head: the three words that futex_owner() reads.
constexpr std::size_t kRobustBytes = 24;

bool is_known(const LockTruth& before, const LockTruth& after) {
  return before == after && (before.writing() != 0 || before.is_read());
}

// Only these threads wait for the lock.
bool is_taker(const offcpud_sample& sample) {
  return std::string_view(sample.comm) == "taker";
}

}  // namespace

Result<std::unique_ptr<LockLooks>> LockLooks::open(const ContendedProgram& program, LockKind kind) {
  const FeatureReport features = probe_features();
  TRY_VOID(features.require());
  TRY(BpfSession session, BpfSession::load({.cgroups = 16}, features));
  std::unique_ptr<LockLooks> looks(new LockLooks(std::move(session), program, kind));
  TRY_VOID(looks->session_.attach());
  TRY(looks->samples_, BlockSamples::open(looks->session_));
  looks->samples_->choose(
      {.blocks = BlockFilter(), .intervals = SamplingIntervals(std::chrono::hours(1))});
  return looks;
}

Status LockLooks::walk() {
  blocked_.clear();
  return samples_->walk_blocked(BlockAge::Any, [this](const offcpud_blocked_record& record) {
    if (record.sample.local_tgid == program_.pid()) blocked_.push_back(record);
  });
}

Status LockLooks::look() {
  TRY_VOID(samples_->drain([](const SampledBlock&) {}));
  const LockTruth before = program_.truth();
  TRY_VOID(walk());
  finder_.add(blocked_);
  TRY(const HeldBlocks held, finder_.find(*samples_));
  const LockTruth after = program_.truth();

  std::vector<Named> named;
  bool has_waiter = false;
  for (const offcpud_blocked_record& record : blocked_) {
    const offcpud_sample& sample = record.sample;
    has_waiter = has_waiter || (is_taker(sample) && record.lock.kind != OFFCPUD_LOCK_NONE);
    const auto holder = held.find({sample.tid, sample.since_ns});
    if (holder == held.end()) continue;
    named.push_back({holder->second->kind, holder->second->local_tid});
    if (is_taker(sample)) continue;
    ++finder_score_.wrong;
    finder_score_.mistakes.push_back(std::string(sample.comm) + " waits for no lock");
  }
  const bool known = is_known(before, after);
  const Named truth{kind_, known ? outer_tid(before.writing()) : 0};
  if (!named.empty() || (has_waiter && known && before.writing() != 0)) {
    judge(finder_score_, named, truth, known);
  }
  return {};
}

void LockLooks::read_often(int times) {
  std::set<std::uint64_t> seen;
  for (const offcpud_blocked_record& record : blocked_) {
    const offcpud_lock& lock = record.lock;
    if (!is_taker(record.sample) || !may_have_owner(lock) || !seen.insert(lock.address).second) {
      continue;
    }
    const std::uint32_t tgid = record.sample.local_tgid, tid = record.sample.local_tid;
    for (int i = 0; i < times; ++i) {
      std::array<std::byte, kFutexBytes> around{};
      std::array<std::byte, kRobustBytes> robust{};
      std::array<MemoryPiece, 2> pieces = {{{tgid, tid, lock.address - kFutexBefore, around},
                                            {tgid, tid, lock.robust_list, robust}}};
      const std::size_t count = may_be_robust(lock) ? 2 : 1;
      const LockTruth before = program_.truth();
      memory_.read(std::span(pieces).first(count));
      const LockTruth after = program_.truth();
      const auto owner = futex_owner(lock, std::span(around).first(pieces[0].got),
                                     std::span(robust).first(pieces[1].got));
      if (!owner) continue;
      judge(memory_score_, {{owner->kind, owner->inner_tid}}, {kind_, before.writing()},
            is_known(before, after));
    }
  }
}

// While somebody reads, nobody has the lock alone: then every name is wrong.
void LockLooks::judge(LookScore& score, const std::vector<Named>& named, const Named& truth,
                      bool is_known) {
  if (!is_known) {
    ++score.changing;
  } else if (named.empty()) {
    ++score.silent;
  } else {
    ++score.compared;
    score.holders.insert(truth.tid);
    for (const Named& each : named) {
      if (each == truth) continue;
      ++score.wrong;
      if (score.mistakes.size() == kMistakes) break;
      score.mistakes.push_back(std::string(name_of(each.kind)) + " of " + std::to_string(each.tid) +
                               ", not of " + std::to_string(truth.tid));
      break;
    }
  }
}

// By /proc, once for each thread: that is slow, and no thread comes or goes.
std::uint32_t LockLooks::outer_tid(std::uint32_t inner) {
  if (inner == 0) return 0;
  const auto [known, is_new] = outer_.try_emplace(inner, 0);
  if (is_new) known->second = program_.outer_tid(inner);
  return known->second;
}

}  // namespace offcpud::test
