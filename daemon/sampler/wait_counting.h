// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "attribution/cgroup_directory.h"
#include "base/result.h"
#include "peers/peer_resolver.h"
#include "sampler/address_locator.h"
#include "sampler/process_owners.h"
#include "sampler/sample_window.h"
#include "sampler/sampler_reports.h"
#include "stacks/stack_source.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Collects the blocks of a window, which are then examined for what they were for. As long as
// sampling is on, a window is open; it is short, so that what is shown now is not minutes old. Used
// by one thread.
class WaitCounting {
 public:
  // The most blocks that are remembered, more than two windows can note. Beyond it, blocks of this
  // window for which WaitSums has no room are forgotten.
  static constexpr std::size_t kMostTold = WaitSums::kMostBlocks / 2 * 5;
  // The most memory for the sums of the open window and of those that are being named.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  // `addresses` must outlive the object.
  WaitCounting(const AddressLocator& addresses, std::shared_ptr<const CgroupDirectory> cgroups,
               const SamplerOptions& options, const Moment& at,
               ProcessOwners owners = ProcessOwners());
  WaitCounting(const WaitCounting&) = delete;
  WaitCounting& operator=(const WaitCounting&) = delete;

  void set_options(const SamplerOptions& options);

  // The blocks that it needs: all but those with reasons that snapshots leave out. The time of
  // these is known exactly, as `unknown`, without samples.
  [[nodiscard]] BlockFilter filter() const;

  // Adds a sampled block that has ended.
  void add_ended(const SampledBlock& block);
  // Adds a block in progress that a walk found, with its user stack as walked from outside.
  void add_lasting(const SampledBlock& block);
  // Who holds the locks for which blocks of the last walk wait. Replaces what was known.
  void set_holders(HeldBlocks holders, UnheldBlocks unheld = {});
  // Who waits for the GIL of programs of Python. Replaces what was known.
  void set_gil_waits(std::vector<GilWait> waits);
  // Adds blocks whose samples were lost: whole, and the parts that add_lasting() did not get.
  void add_lost(const LostSamples& lost);
  // Call it often: CgroupPaths::retry().
  void retry_cgroups() { cgroups_.retry(); }

  [[nodiscard]] bool is_due(MonotonicTime now) const { return now - due_since_ >= length_; }
  // Extends the open window by another length.
  void postpone(MonotonicTime now) { due_since_ = now; }

  // Follows who has which socket, a few milliseconds at a time. Call it often.
  Status follow_sockets(StackSource& kernel, MonotonicTime now);

  // What was added since the last call; the next window begins at that moment. Names of kernel
  // functions are still to be filled in.
  WaitInterval close(const Moment& at);
  // Makes the next window contain the stacks of all blocks again.
  void forget_told() { told_.clear(); }
  // Sockets for which there was no room, since the start.
  [[nodiscard]] std::uint64_t sockets_left_out() const { return sockets_left_out_; }
  // The number of blocks whose stacks earlier windows contained.
  [[nodiscard]] std::size_t told() const { return told_.size(); }

 private:
  struct Told {
    std::uint32_t windows = 0;    // how many windows contained the block
    std::uint32_t waited_on = 0;  // as in the sample of the last one
    bool now = false;             // the open one has it
  };

  // The most processes that are looked up in one window once there is no room: of those that hold
  // something (50 ms), and of those that want more. Forking one costs more than looking it up.
  static constexpr std::size_t kMostHoldersAsked = 2'000, kMostAsked = 20'000;

  ShareOwner owner_of(const WaitSums::Asked& process);
  void begin_sums();
  void forget_left_out();
  void keep_noted(const WaitSums::Drained& waits);
  WaitPeer peer_of(const SampledBlock& block);
  WaitPeer peer_of_ended(const SampledBlock& block);
  void add(const SampledBlock& block, const WaitPeer& peer);

  const AddressLocator& addresses_;
  std::shared_ptr<const CgroupDirectory> directory_;
  std::chrono::milliseconds length_{0};
  std::uint32_t kinds_ = 0;
  bool all_kinds_ = true;      // all were sampled since the window began
  std::uint64_t long_ns_ = 0;  // blocks of this length and longer are told one by one

  Moment begin_;
  MonotonicTime due_since_;  // the window is due a length after it
  ProcessOwners owners_;     // asked once there is no room
  WaitSums sums_;
  CgroupPaths cgroups_;
  PeerResolver peers_;
  bool walks_sockets_ = false;      // a walk is under way
  MonotonicTime sockets_walked_{};  // when the last walk began
  std::uint64_t sockets_left_out_ = 0;
  LostSamples lost_;
  HeldBlocks holders_, last_holders_;  // of the open window, and of the last one
  UnheldBlocks unheld_;
  std::vector<GilWait> gil_waits_;
  // Blocks in progress, by thread and beginning.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Told> told_;
};

}  // namespace offcpud
