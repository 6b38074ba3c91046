// SPDX-License-Identifier: Apache-2.0
#include "api/holder_state.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "pipeline/reading_source.h"
#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

// Whether the walk found the thread in the same block as the window.
bool is_in(const ExaminedBlock& block, const offcpud_thread& thread) {
  if (thread.state != OFFCPUD_THREAD_BLOCKED) return false;
  // In the window such a block begins when the daemon found it, so the beginnings differ.
  constexpr std::uint32_t kBefore = OFFCPUD_THREAD_ESTIMATED | OFFCPUD_THREAD_UNKNOWN;
  if (block.censored) return (thread.flags & kBefore) != 0;
  return thread.since_ns == block.since_ns;
}

}  // namespace

HolderState holder_state(const View& view, const LockHolder& holder) {
  const offcpud_thread* const thread = view.walk ? find_thread(*view.walk, holder.tid) : nullptr;
  // The holder ended, and a thread of another process has its number now.
  if (thread != nullptr && thread->tgid != holder.process.tgid) return {};
  HolderState state;
  state.block = view.waits ? view.waits->lasting_block_of(holder.tid) : nullptr;
  if (state.block != nullptr) {
    state.does = UnitHolder::Does::Waits;
    if (thread != nullptr && is_in(*state.block, *thread)) state.age = age_of_deed(*thread);
  } else if (thread != nullptr && thread->state < OFFCPUD_THREAD_BLOCKED) {
    state.does = UnitHolder::Does::Runs;
    state.age = age_of_deed(*thread);
  }
  return state;
}

void append_deed(nlohmann::ordered_json& json, UnitHolder::Does does, const WaitAge& age) {
  constexpr std::array<const char*, 4> kDoes = {"unknown", "runs", "waits", "deadlocked"};
  json["does"] = kDoes.at(static_cast<std::size_t>(does));
  json["does_seconds"] = nullptr;
  if (age.ns > 0) json["does_seconds"] = static_cast<double>(age.ns) * 1e-9;
  json["does_estimated"] = age.estimated;
}

}  // namespace offcpud
