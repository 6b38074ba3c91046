// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/share_owner.h"
#include "reader/process_memory.h"
#include "sample.h"
#include "sampler/address_locator.h"
#include "sampler/process_owners.h"
#include "sampler/python_processes.h"
#include "stacks/interpreted_stack.h"
#include "stacks/stack_source.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// The functions of Python in which blocked threads wait. They are read from the process's memory
// once per block, and used only if the thread is in the same block afterwards, because then it has
// not run in between. Used by one thread.
class PythonStacks {
 public:
  // The most threads whose stacks are read in one walk or look: of one process, of one user, and in
  // all.
  static constexpr std::size_t kMostOfProcess = 256, kMostOfUser = 1'024, kMost = 4'096;
  // The most blocks that are remembered, with and without Python, and the most memory for their
  // stacks.
  static constexpr std::size_t kMostKnown = 65'536;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  // All must outlive the object.
  PythonStacks(const AddressLocator& addresses, ProcessMemory& memory, PythonProcesses& processes,
               ProcessOwners users = ProcessOwners())
      : addresses_(addresses), memory_(memory), processes_(processes), users_(std::move(users)) {}

  // Reads the functions of these blocks, except of those that are known already. `stacks`: the user
  // stacks of the same threads, in the same order.
  void read(std::span<const offcpud_blocked_record> records, std::span<const RemoteStack> stacks,
            StackSource& kernel);

  // The functions of Python of this sample's block, which is in progress or has just ended. Null:
  // the block is not known, the thread waits in no function of Python, or the stack of a block that
  // ended was not walked to its root.
  [[nodiscard]] std::shared_ptr<const InterpretedStack> find(const offcpud_sample& sample);

  // Whether this block was read, or has no Python.
  [[nodiscard]] bool knows(const offcpud_sample& sample) { return known_of(sample) != nullptr; }

  // Finds the CPython of the sample's process, so that it is looked at. `user`: the sample's stack.
  // Only for blocks with the reason of waits for the GIL: read() misses processes in which no block
  // lasts.
  void note(const offcpud_sample& sample, std::span<const LocatedFrame> user);

  // Ends a look at some threads: more may be read in the next one.
  void end_look();
  // Ends a walk over all threads. Forgets the blocks that neither this walk nor the one before has
  // seen.
  void end_walk();

  // Threads whose stacks were not read for lack of room, or not used because the thread ran
  // meanwhile, since the start. A thread counts once for each walk or look.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  // The processes of Python to look at next, between walks; see PythonProcesses.
  [[nodiscard]] std::vector<std::uint32_t> processes_to_look_at() {
    return processes_.next_to_look_at();
  }

 private:
  using Block = std::pair<std::uint32_t, std::uint64_t>;  // thread and beginning
  struct Known {
    std::shared_ptr<const InterpretedStack> stack;  // null: no function of Python
    bool is_whole = false;  // the stack was walked to its root, so another walk finds no more
    unsigned unseen = 0;    // walks
  };
  // A thread whose stack is to be read.
  struct Wanted {
    const offcpud_blocked_record* record;
    const RemoteStack* stack;
    std::shared_ptr<const PythonRuntime> runtime;
  };

  static Block block_of(const offcpud_sample& sample) { return {sample.tid, sample.since_ns}; }
  // What is known of the sample's block, which counts as seen in this walk; null: nothing.
  Known* known_of(const offcpud_sample& sample);
  // Whether reading the block again would find no more.
  [[nodiscard]] bool is_settled(const offcpud_sample& sample);
  [[nodiscard]] bool has_room(const offcpud_sample& sample);
  void choose(const offcpud_blocked_record& record, const RemoteStack& stack,
              std::vector<Wanted>& wanted);
  [[nodiscard]] static std::map<std::uint32_t, std::uint64_t> blocked_since(
      std::span<const Wanted> wanted, StackSource& kernel);
  void remember(const Wanted& wanted, InterpretedStack stack);
  std::shared_ptr<const InterpretedStack> share(InterpretedStack stack);

  const AddressLocator& addresses_;
  ProcessMemory& memory_;
  PythonProcesses& processes_;
  ProcessOwners users_;
  std::map<Block, Known> known_;
  // Stacks in use, by the hash of what they show.
  std::unordered_map<std::uint64_t, std::weak_ptr<const InterpretedStack>> shared_;
  std::size_t bytes_ = 0;  // of shared_, about
  std::uint64_t last_id_ = 0;
  std::size_t read_ = 0;  // in this walk
  std::map<std::uint32_t, std::size_t> of_process_;
  std::map<ShareOwner, std::size_t> of_user_;
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
