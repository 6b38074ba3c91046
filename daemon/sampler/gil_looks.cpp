// SPDX-License-Identifier: Apache-2.0
#include "sampler/gil_looks.h"

#include <algorithm>

#include "reader/memory_words.h"
#include "sampler/lock_owner.h"

namespace offcpud {
namespace {

using Holders = std::map<std::uint64_t, std::shared_ptr<const LockHolder>>;  // by their keys

Result<Holders> find_holders(std::vector<std::uint64_t> keys, StackSource& kernel) {
  Holders holders;
  std::erase(keys, std::uint64_t{0});
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys.empty()) return holders;
  TRY(const auto owners, kernel.find_owners(keys));
  for (const offcpud_owner& owner : owners) {
    holders.emplace(owner.key,
                    std::make_shared<const LockHolder>(holder_of(owner, LockKind::PythonGil)));
  }
  return holders;
}

}  // namespace

LockLook GilLooks::Process::look() const {
  if (changed) return LockLook::ChangesHands;
  return state ? LockLook::SeenOnce : LockLook::NamesNobody;
}

GilLooks::Process& GilLooks::begin_look(const offcpud_sample& sample) {
  const Key key(sample.local_tgid, sample.process_start_ns);
  now_ = key;
  if (known_.size() == kMost && !known_.contains(key)) forget_oldest();
  Process& process = known_[key];
  process.looked = clock_.now();
  find_gil(key, process);
  room_ = room_for(key);
  return process;
}

// So many waiting threads of this process are kept. The share of its user is limited, so that one
// user cannot hide the holders of others.
std::size_t GilLooks::room_for(const Key& key) const {
  const ShareOwner& owner = known_.at(key).owner;
  std::size_t of_user = 0, of_all = 0;  // held by other processes
  for (const auto& [other, each] : known_) {
    if (other == key) continue;
    of_all += each.waits.size();
    if (each.owner == owner) of_user += each.waits.size();
  }
  return std::min({kMostOfProcess, kMostOfUser - std::min(kMostOfUser, of_user),
                   kMostOfAll - std::min(kMostOfAll, of_all)});
}

// What is known of another program, which the process ran before, says nothing of this one.
void GilLooks::find_gil(const Key& key, Process& process) {
  const auto runtime = processes_.runtime_of(key.first, key.second);
  if (!runtime) return;
  process.owner = processes_.owner_of(key.first, key.second);
  const bool is_same = runtime == process.runtime && process.gil != 0;
  if (is_same && process.looked - process.found < kFoundFor) return;
  const std::uint64_t gil = find_python_gil(MemoryWords(memory_, key.first), *runtime).value_or(0);
  if (!is_same || gil != process.gil) process = {.owner = process.owner, .looked = process.looked};
  process.runtime = runtime;
  process.gil = gil;
  process.found = process.looked;
}

void GilLooks::see(const offcpud_blocked_record& record) {
  const offcpud_sample& sample = record.sample;
  const bool has_registers = (sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0;
  if (!has_registers || sample.local_tgid == 0) return;
  const Process& process = now_ ? known_.at(*now_) : begin_look(sample);
  // A thread that was stopped meanwhile still has the futex in its register, as one in another call
  // may have by chance.
  if (sample.kind != OFFCPUD_BLOCKED_CONDVAR) return;
  if (!is_python_gil(process.gil, record.regs.di)) return;
  if (seen_.size() >= room_) {
    ++left_out_;
    return;
  }
  seen_.push_back({.tid = sample.tid,
                   .tgid = sample.tgid,
                   .local_tgid = sample.local_tgid,
                   .cgroup_id = sample.cgroup_id,
                   .since_ns = sample.since_ns,
                   .block_ns = sample.since_ns,
                   .seen_ns = sample.ended_ns});
}

// Reads the GIL of a process. Returns whether it has the holder of the last read, and nobody else
// has had it since.
bool GilLooks::read(const Key& key, Process& process) {
  const auto state =
      read_python_gil(MemoryWords(memory_, key.first), *process.runtime, process.gil);
  const bool was_read = std::exchange(process.was_read, true);
  const bool names_holder = state && state->is_held && state->tid != 0;
  if (names_holder && process.state == state) return true;
  if (names_holder || process.state) process.changed = was_read;
  process.state = names_holder ? state : std::nullopt;
  return false;
}

// Who waits for the GIL stops only when it gets it. So whoever is sure to have waited at an earlier
// look still waits as long as nobody else has had it, also if its thread happens to run at this
// one: after each timeout it asks the holder to give it away. Only threads that end because the
// interpreter ends do not get it; these are not seen again.
void GilLooks::go_on_waiting(std::span<const GilWait> waited, std::vector<GilWait>& seen,
                             std::uint64_t now_ns) {
  for (const GilWait& earlier : waited) {
    const auto again = std::ranges::find(seen, earlier.tid, &GilWait::tid);
    if (again != seen.end()) {
      again->since_ns = earlier.since_ns;
    } else if (earlier.unseen < kMostUnseen) {
      if (seen.size() >= room_) {
        ++left_out_;
        continue;
      }
      GilWait& wait = seen.emplace_back(earlier);
      wait.seen_ns = now_ns;
      ++wait.unseen;
    }
  }
}

void GilLooks::end_look() {
  if (!now_) return;
  const Key key = *std::exchange(now_, std::nullopt);
  Process& process = known_.at(key);
  std::vector<GilWait> seen = std::exchange(seen_, {});
  const std::vector<GilWait> waited = std::exchange(process.waits, {});
  if (seen.empty() && waited.empty()) {
    process.was_read = process.changed = process.is_sure = false;
    return;
  }
  const bool was_sure = std::exchange(process.is_sure, read(key, process));
  if (was_sure && process.is_sure) go_on_waiting(waited, seen, ns_of(process.looked));
  if (!seen.empty()) processes_.keep(key.first, key.second);
  process.waits = std::move(seen);
}

Result<std::vector<GilWait>> GilLooks::take(StackSource& kernel) {
  const MonotonicTime now = clock_.now();
  std::vector<GilWait> waits;
  std::vector<std::uint64_t> owners;  // of each wait; 0: no holder is told
  for (auto& [key, process] : known_) {
    if (process.waits.empty()) continue;
    const bool goes_on = read(key, process);
    if (goes_on || now - process.looked <= kGoodFor) {
      for (const GilWait& wait : process.waits) waits.emplace_back(wait).look = process.look();
      const bool is_sure = goes_on && process.is_sure;
      owners.resize(waits.size(), is_sure ? process.owner_key() : 0);
    }
    if (goes_on) continue;
    process.waits.clear();  // somebody else has had it, so nobody is sure to go on
    process.is_sure = false;
  }
  TRY(const Holders holders, find_holders(owners, kernel));
  std::vector<GilWait> told;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    GilWait& wait = waits[i];
    const auto found = holders.find(owners[i]);
    if (found != holders.end()) {
      if (found->second->tid == wait.tid) continue;  // it has got it since
      wait.holder = found->second;
    } else if (owners[i] != 0) {
      wait.look = LockLook::NamesNobody;
    }
    told.push_back(std::move(wait));
  }
  return told;
}

void GilLooks::forget_oldest() {
  const auto oldest =
      std::ranges::min_element(known_, {}, [](const auto& item) { return item.second.looked; });
  left_out_ += oldest->second.waits.size();
  known_.erase(oldest);
}

}  // namespace offcpud
