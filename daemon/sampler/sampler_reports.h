// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/heartbeat.h"
#include "base/object_refusal.h"
#include "base/result.h"
#include "base/stack_losses.h"
#include "mappings/fair_share.h"
#include "reader/reader_client.h"
#include "stacks/capture_rules.h"
#include "stacks/sampled_snapshot.h"

namespace offcpud {

struct SamplerOptions {
  std::chrono::seconds interval{60};  // length of a snapshot
  double stacks_per_second = 200;     // that the sampling interval adapts to
  std::size_t stacks = 16'384;        // different ones that a snapshot keeps apart
  std::shared_ptr<const CaptureRules> capture = std::make_shared<const CaptureRules>();
};

// What the sampler tells; called by its threads.
struct SamplerReports {
  // A snapshot is finished, or had to be given up. By the naming thread, which may outlive the
  // sampler, or by the sampler's.
  std::function<void(Result<SampledSnapshot> sampled)> finished;
  std::function<void(std::uint32_t user_end)> sampled;  // one stack; enum offcpud_unwind_end
  // A stack, new in its window, with functions outside of everything that is known to be mapped:
  // the window had to end before all was followed. By the sampler's thread.
  std::function<void()> located_early;
  std::function<void(std::chrono::nanoseconds interval)> adapted;
  // A program or library, or a process's map of names, asked for more than the limits, and
  // something of it was left out. By the sampler's thread or the naming one.
  std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  // Every second: the processes whose mappings are not all kept, as they have too many, those with
  // most first; and how many mappings were left out since the start.
  std::function<void(const std::vector<OverShare>& processes, std::uint64_t left_out)> over_share;
  // Every second: what was left out since the start.
  std::function<void(const StackLosses& losses)> losses;
  ReaderReports readers;
  // Something is missing from the stacks; `topic` is the same for the same cause.
  std::function<void(std::string_view topic, const std::string& sentence)> warned;
  // Of its two threads; may be null.
  std::shared_ptr<Heartbeat> stacks, symbols;

  // Another piece of work of the sampler's thread begins, for whoever asks why it hangs. Each is a
  // small one: one object, one thread; of many of them on a busy host none hangs.
  void at(const char* work) const {
    if (stacks) stacks->begin(work);
  }
};

}  // namespace offcpud
