// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lock.h"
#include "peers/socket_table.h"
#include "stacks/sample_choice.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// The blocks in progress that a walk over blocked threads reports.
enum class BlockAge : std::uint8_t {
  Lasting,  // those at least twice OFFCPUD_IN_PROGRESS_AGE_NS old
  Any,      // also more recent ones, flagged with OFFCPUD_SAMPLE_YOUNG
};

// The time that lost samples stand for, in nanoseconds.
struct LostSamples {
  std::uint64_t ns = 0;        // of the parts of blocks that no walk has accounted
  std::uint64_t whole_ns = 0;  // of whole blocks, without those whose beginning was not seen
};

// The kernel's reports about sampled blocks. An interface, so that tests can replace the kernel.
// Used by one thread.
class StackSource {
 public:
  virtual ~StackSource() = default;

  // Whether the kernel reports blocks and wakeups. If not, choose() has no effect.
  [[nodiscard]] virtual bool has_hooks() const = 0;

  // Sets the blocks that are sampled from now on.
  virtual void choose(const SampleChoice& choice) = 0;

  // Passes every waiting sample to `take`. Returns their number.
  virtual Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& take) = 0;

  // Accounts all lasting blocks up to now, and passes the part of each that was not accounted
  // before to `take`. More recent blocks are passed whole and not accounted: their end reports all
  // of them again. User stacks are still to be walked.
  virtual Status walk_blocked(BlockAge age,
                              const std::function<void(const offcpud_blocked_record&)>& take) = 0;

  // Passes each blocked thread of a process to `take`, without its kernel stack. Accounts nothing.
  // `local_tgid`: in the daemon's PID namespace.
  virtual Status look_at(std::uint32_t /*local_tgid*/,
                         const std::function<void(const offcpud_blocked_record&)>& /*take*/) {
    return {};
  }

  // Continues a walk over the sockets of all processes, for about this long. Returns what the
  // finished walk found; the next call begins another one. Null: the walk is not over yet, or this
  // kernel cannot do it.
  virtual Result<std::shared_ptr<const SocketTable>> walk_sockets(
      std::chrono::nanoseconds /*budget*/) {
    return std::shared_ptr<const SocketTable>();
  }

  // Finds the threads with these keys: offcpud_owner_key() or OFFCPUD_OWNER_BY_TID, at most
  // OFFCPUD_OWNERS of them.
  virtual Result<std::vector<offcpud_owner>> find_owners(std::span<const std::uint64_t> /*keys*/) {
    return std::vector<offcpud_owner>();
  }

  // The time that samples which were lost since the last call stand for.
  virtual LostSamples take_lost() = 0;

  // The kernel's names of its own functions and those of modules and BPF programs, by return
  // address: "schedule+0x2a/0x90", "nf_hook_slow+0x3c/0xa0 [nf_tables]". An unknown address is
  // shown as a number.
  virtual Result<std::vector<std::string>> kernel_names(
      std::span<const std::uint64_t> addresses) = 0;
};

}  // namespace offcpud
