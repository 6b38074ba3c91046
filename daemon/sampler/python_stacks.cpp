// SPDX-License-Identifier: Apache-2.0
#include "sampler/python_stacks.h"

#include <functional>
#include <set>
#include <string>

#include "base/word_hash.h"
#include "offcpud.h"
#include "python/python_reader.h"
#include "sampler/python_placing.h"

namespace offcpud {
namespace {

constexpr unsigned kMostUnseen = 2;  // walks without a block after which it is forgotten

std::uint64_t hash_of(const InterpretedStack& stack) {
  std::uint64_t hash = hash_joined(kHashBasis, word_of(stack.hidden_from, stack.hidden_to));
  for (const InterpretedFrame& frame : stack.frames) {
    hash = hash_joined(hash, std::hash<std::string>()(frame.function));
    hash = hash_joined(hash, word_of(frame.line, frame.at));
  }
  return hash;
}

bool shows_the_same(const InterpretedStack& a, const InterpretedStack& b) {
  return a.hidden_from == b.hidden_from && a.hidden_to == b.hidden_to && a.frames == b.frames;
}

}  // namespace

PythonStacks::Known* PythonStacks::known_of(const offcpud_sample& sample) {
  const auto known = known_.find(block_of(sample));
  if (known == known_.end()) return nullptr;
  known->second.unseen = 0;
  return &known->second;
}

bool PythonStacks::is_settled(const offcpud_sample& sample) {
  const Known* const known = known_of(sample);
  return known != nullptr && known->is_whole;
}

bool PythonStacks::has_room(const offcpud_sample& sample) {
  std::size_t& of_process = of_process_[sample.tgid];
  bool fits = read_ < kMost && bytes_ < kMostBytes && of_process < kMostOfProcess;
  if (fits) {
    std::size_t& of_user = of_user_[users_.of(sample)];
    fits = of_user < kMostOfUser;
    if (fits) ++of_user;
  }
  if (!fits) {
    ++left_out_;
    return false;
  }
  ++read_;
  ++of_process;
  return true;
}

void PythonStacks::choose(const offcpud_blocked_record& record, const RemoteStack& stack,
                          std::vector<Wanted>& wanted) {
  const offcpud_sample& sample = record.sample;
  const bool is_walked = (sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0;
  if (!is_walked || sample.local_tgid == 0 || is_settled(sample)) return;
  if (known_.size() >= kMostKnown) {
    ++left_out_;
    return;
  }
  const std::vector<__u64> addresses(stack.addresses.begin(), stack.addresses.end());
  const auto frames = addresses_.locate(sample.local_tgid, sample.ended_ns, addresses);
  const PythonProcesses::Found found = processes_.find(sample, frames);
  using Is = PythonProcesses::Is;
  if (found.is == Is::Python && has_room(sample)) {
    wanted.push_back({&record, &stack, found.runtime});
  } else if (found.is == Is::NotPython || found.is == Is::Refused) {
    known_[block_of(sample)] = {.stack = nullptr, .is_whole = stack.end == OFFCPUD_UNWIND_END_ROOT};
  } else if (found.is == Is::NotNow) {
    ++left_out_;
  }
}

void PythonStacks::note(const offcpud_sample& sample, std::span<const LocatedFrame> user) {
  if (sample.kind != OFFCPUD_BLOCKED_CONDVAR || sample.local_tgid == 0) return;
  (void)processes_.find(sample, user);
}

void PythonStacks::read(std::span<const offcpud_blocked_record> records,
                        std::span<const RemoteStack> stacks, StackSource& kernel) {
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < records.size(); ++i) choose(records[i], stacks[i], wanted);
  if (wanted.empty()) return;
  std::vector<PythonThread> threads;
  threads.reserve(wanted.size());
  for (const Wanted& each : wanted) {
    const offcpud_sample& sample = each.record->sample;
    threads.push_back({.tgid = sample.local_tgid,
                       .tid = sample.local_tid,
                       .thread_pointer = each.record->thread_pointer,
                       .runtime = each.runtime.get()});
  }
  const std::vector<PythonCalls> calls = read_python_calls(memory_, threads);
  const auto since = blocked_since(wanted, kernel);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const offcpud_sample& sample = wanted[i].record->sample;
    const auto found = since.find(sample.tid);
    if (found == since.end() || found->second != sample.since_ns) {
      ++left_out_;  // what was read may be of several blocks
      continue;
    }
    if (calls[i].end == PythonFrames::End::Mismatch) processes_.mismatch(sample);
    remember(wanted[i], place_python(calls[i], *wanted[i].runtime, *wanted[i].stack));
  }
}

// Since when these threads are blocked, of those that still are.
std::map<std::uint32_t, std::uint64_t> PythonStacks::blocked_since(std::span<const Wanted> wanted,
                                                                   StackSource& kernel) {
  std::set<std::uint32_t> processes;
  for (const Wanted& each : wanted) processes.insert(each.record->sample.local_tgid);
  std::map<std::uint32_t, std::uint64_t> since;
  for (const std::uint32_t process : processes) {
    const auto note = [&since](const offcpud_blocked_record& record) {
      since[record.sample.tid] = record.sample.since_ns;
    };
    // A process that cannot be looked at has no names.
    (void)kernel.look_at(process, note);
  }
  return since;
}

void PythonStacks::remember(const Wanted& wanted, InterpretedStack stack) {
  Known known{.stack = nullptr, .is_whole = wanted.stack->end == OFFCPUD_UNWIND_END_ROOT};
  if (!stack.frames.empty()) known.stack = share(std::move(stack));
  known_[block_of(wanted.record->sample)] = std::move(known);
}

// Threads that wait in the same place share one stack, and so one sum.
std::shared_ptr<const InterpretedStack> PythonStacks::share(InterpretedStack stack) {
  std::weak_ptr<const InterpretedStack>& known = shared_[hash_of(stack)];
  if (auto same = known.lock(); same && shows_the_same(*same, stack)) return same;
  stack.id = ++last_id_;
  auto shared = std::make_shared<const InterpretedStack>(std::move(stack));
  bytes_ += shared->bytes();
  known = shared;
  return shared;
}

std::shared_ptr<const InterpretedStack> PythonStacks::find(const offcpud_sample& sample) {
  const Known* const known = known_of(sample);
  if (known == nullptr) return nullptr;
  // Both walks must have seen the same frames: the kernel walks again when the thread wakes.
  const bool is_same =
      is_in_progress(sample) || (known->is_whole && sample.user_end == OFFCPUD_UNWIND_END_ROOT);
  return is_same ? known->stack : nullptr;
}

void PythonStacks::end_walk() {
  for (auto& [block, known] : known_) ++known.unseen;
  std::erase_if(known_, [](const auto& item) { return item.second.unseen > kMostUnseen; });
  bytes_ = 0;
  std::erase_if(shared_, [this](const auto& item) {
    const auto stack = item.second.lock();
    if (stack) bytes_ += stack->bytes();
    return stack == nullptr;
  });
  end_look();
}

void PythonStacks::end_look() {
  read_ = 0;
  of_process_.clear();
  of_user_.clear();
  processes_.end_walk();
}

}  // namespace offcpud
